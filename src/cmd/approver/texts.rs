//! The texts of a dialogue, which name the commands that a person types.

/// The texts; each ends with a line feed, except the title.
#[derive(Debug)]
pub struct DialogueTexts {
    /// Above a call.
    pub title: &'static str,
    /// Below a call of which a part is left out.
    pub cut: &'static str,
    /// The answer to an approval of such a call.
    pub not_all_shown: &'static str,
    pub how_to_edit: &'static str,
    pub not_understood: &'static str,
    pub prompt: &'static str,
    /// If a rule can be made from the call.
    pub prompt_with_rules: &'static str,
    /// If its arguments were edited.
    pub edited_prompt: &'static str,
    pub help: &'static str,
}

/// At a gate's own terminal, and in `hitl-gate attach`.
pub static LETTERS: DialogueTexts = DialogueTexts {
    title: "hitl-gate: may this call pass?",
    cut: "not everything is shown: press v before y\n",
    not_all_shown: "not everything has been shown: press v first\n",
    how_to_edit: "e NAME=VALUE sets an argument, e alone opens your editor\n",
    not_understood: "unknown command; y lets the call pass, n rejects it\n",
    prompt: "approve [y], edit [e], reject [n], everything [v], help [?]\n> ",
    prompt_with_rules: "approve [y], for this session [a], edit [e], reject [n], everything [v], help [?]\n> ",
    edited_prompt: "approve this [y], edit again [e], reject [n], everything [v], help [?]\n> ",
    help: "\
  y, yes, /yes [TEXT]   let it pass; TEXT goes into the record
  n, no, /no [TEXT]     reject it; TEXT goes to the caller
  e                     edit the arguments in your editor ($VISUAL, $EDITOR)
  e NAME=VALUE          set one argument (a path such as items[0].id too); VALUE is JSON, or else text
  a                     let it pass, and every call of this tool until the end of the run; if the tool runs text, only what
                        is shown as `for this session`
  A                     the same for calls with this target, these arguments or this text; shows the rule, which can \
  be edited
  a N, A N              the same for what is shown with this number, such as all calls on one origin
  v                     show everything, at full length; needed before y where something was cut off
  Ctrl-D                reject it
",
};

/// In a client of an agent, whose commands have slashes.
pub static COMMANDS: DialogueTexts = DialogueTexts {
    title: "may this call pass?",
    cut: "not everything is shown: /show shows it, before /yes\n",
    not_all_shown: "not everything has been shown: /show first\n",
    how_to_edit: "/edit NAME=VALUE sets an argument, /edit alone opens your editor\n",
    not_understood: "",
    prompt: "/yes, /no, /edit or /show\n",
    prompt_with_rules: "/yes, /always, /no, /edit or /show\n",
    edited_prompt: "/yes lets it pass as edited; /edit edits it again, /no rejects it\n",
    help: "",
};
