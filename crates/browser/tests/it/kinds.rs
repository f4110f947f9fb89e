//! Kinds of drawn controls, by what component libraries do: each is listed once, with its name, and can be pressed.

use crate::soon;
use pipewright_browser::{AddressRules, Browser, Element, Launch, Ready, Scope};

struct Kind {
    what: &'static str,
    page: &'static str,
    /// The role, name and marks of each item.
    listed: &'static [&'static str],
    /// The names of items that are pressed one after the other.
    pressed: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        what: "a label without text",
        page: r##"<label><input type=checkbox aria-label=Wifi style="clip:rect(0 0 0 0);height:1px;width:1px;margin:-1px;overflow:hidden;position:absolute"><span
            style="display:inline-flex;width:34px;height:18px;cursor:pointer"><i></i></span></label>"##,
        listed: &[r#"checkbox "Wifi""#],
        pressed: &["Wifi"],
    },
    Kind {
        what: "focus guards, portals and copies that are cut off",
        page: r##"<i tabindex=0 aria-hidden=true style="position:fixed;width:1px;height:1px;opacity:.001"></i><button>Save</button>
            <button style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)">Dismiss</button><div id=listener></div>
            <a href="#x" style="position:fixed;left:-300px;width:200px">Closed menu</a>"##,
        listed: &[r#"button "Save""#],
        pressed: &["Save"],
    },
    Kind {
        what: "hidden fields of drawn controls",
        page: r##"<button role=checkbox aria-checked=false aria-label=Agree style="width:20px;height:20px"></button>
            <input type=checkbox aria-hidden=true tabindex=-1 style="position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%)">
            <div aria-hidden=true style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)"><select tabindex=-1><option>Apple</select></div>"##,
        listed: &[r#"checkbox "Agree""#],
        pressed: &["Agree"],
    },
    Kind {
        what: "wrappers that listen for the mouse",
        page: r##"<div class=over><input aria-label=City></div><table><tr class=over><td class=over>Anna<td class=over><button>Edit</button></table>
            <div class=over style="width:90px">Products<ul hidden><li><a href="/a">A</a></ul></div>"##,
        listed: &[r#"textbox "City""#, r#"button "Edit""#, r#"clickable "Products" hover"#],
        pressed: &["Edit"],
    },
    Kind {
        what: "a switch whose field has no size",
        page: r##"<div id=listener style="width:90px"><input type=checkbox role=switch aria-label=Wifi style="position:absolute;opacity:0;width:0;height:0;margin:0"><span
            style="cursor:pointer;display:inline-block;width:40px;height:20px"></span><span style="cursor:pointer">On</span></div>"##,
        listed: &[r#"switch "Wifi""#],
        pressed: &["Wifi"],
    },
    Kind {
        what: "a button drawn by its label",
        page: r##"<button role=switch id=s aria-checked=false style="position:absolute;border:0;padding:0;width:1px;height:1px;overflow:hidden"></button>
            <label for=s>Alarm<div style="cursor:pointer">Off</div></label>"##,
        listed: &[r#"switch "Alarm Off""#],
        pressed: &["Alarm Off"],
    },
    Kind {
        what: "a button around a button",
        page: r##"<div role=button tabindex=0 id=listener><button>Upload</button></div>"##,
        listed: &[r#"button "Upload""#],
        pressed: &["Upload"],
    },
    Kind {
        what: "parts that take no pointer in a shadow tree",
        page: r##"<x-tab style="display:inline-block;width:90px">Second</x-tab> <x-link>Link</x-link><script>
            const draw = (name, html) => document.querySelector(name).attachShadow({mode: "open"}).innerHTML = html;
            draw("x-tab", '<button role=tab style="pointer-events:none;width:100%"><slot></slot></button>'); draw("x-link", '<a href="#x"><slot></slot></a>');</script>"##,
        listed: &[r#"tab "Second""#, r#"link "Link""#],
        pressed: &["Second", "Link"],
    },
    Kind {
        what: "a label around a host, and text in a slot",
        page: r##"<label>Agree <x-box></x-box></label><x-item>First</x-item><script>
            const draw = (name, html) => document.querySelector(name).attachShadow({mode: "open"}).innerHTML = html;
            draw("x-box", "<input type=checkbox>"); draw("x-item", '<div style="cursor:pointer"><slot></slot></div>');</script>"##,
        listed: &[r#"checkbox "Agree""#, r#"clickable "First""#],
        pressed: &["Agree", "First"],
    },
    Kind {
        what: "transparent fields over buttons",
        page: r##"<div style="position:relative;display:inline-block"><select aria-label=Size style="position:absolute;inset:0;width:100%;height:100%;opacity:0;z-index:1"><option>S</select>
            <button tabindex=-1>Please select</button></div>"##,
        listed: &[r#"combobox "Size""#],
        pressed: &[],
    },
    Kind {
        what: "two transparent ranges",
        page: r##"<div style="position:relative;width:300px;height:40px;cursor:pointer"><style>input { position: absolute; inset: 0; width: 100%; opacity: 0; margin: 0 }</style>
            <input type=range aria-label=From><input type=range aria-label=To></div>"##,
        listed: &[r#"slider "From" covered"#, r#"slider "To""#],
        pressed: &[],
    },
    Kind {
        what: "a range that is cut off in its handle",
        page: r##"<div style="position:relative;width:200px;height:20px;margin:30px"><div style="position:absolute;left:60px;width:20px;height:20px"><div
            style="clip:rect(0 0 0 0);height:1px;width:1px;margin:-1px;overflow:hidden;position:absolute"><input type=range aria-label=Opacity></div></div></div>"##,
        listed: &[r#"slider "Opacity""#],
        pressed: &["Opacity"],
    },
    Kind {
        what: "a hand that only the style sheet of the pointer shows",
        page: r##"<style>.menu a:hover, td:hover { cursor: pointer }</style><ul class=menu><li><a>Item</a></ul><table><tr><td>1<td>2</table>"##,
        listed: &[r#"clickable "Item""#, r#"clickable "1""#, r#"clickable "2""#],
        pressed: &["Item", "2"],
    },
    Kind {
        what: "a second label",
        page: r##"<label for=open style="cursor:pointer">Open</label><input type=checkbox id=open style="position:fixed;opacity:0;width:0;height:0"><style>#open:not(:checked) ~ div { display: none }</style>
            <div style="position:fixed;inset:0;background:#ddd">Hello <label for=open style="cursor:pointer">Close</label></div>"##,
        listed: &[r#"checkbox "Open""#],
        pressed: &["Open", "Close"],
    },
    Kind {
        what: "a label beside a transparent field",
        page: r##"<div style="position:relative" id=listener><input type=checkbox aria-label=Public style="position:absolute;opacity:0;z-index:-1"><label style="cursor:pointer;padding-left:25px">Public</label></div>"##,
        listed: &[r#"checkbox "Public""#],
        pressed: &["Public"],
    },
    Kind {
        what: "parts of a control that listen",
        page: r##"<ul role=listbox><li role=option style="width:200px"><style>li::after { content: "Press Enter" }</style><span id=listener style="display:block;padding:9px 0">First</span></ul>
            <div role=tree><div role=treeitem aria-label=Folder style="width:200px"><span style="cursor:pointer">Folder</span></div></div>"##,
        listed: &[r#"option "First Press Enter""#, r#"treeitem "Folder""#],
        pressed: &["First Press Enter", "Folder"],
    },
    Kind {
        what: "containers that take the focus",
        page: r##"<div role=grid tabindex=0 aria-label=Files><div role=row><span role=gridcell>Games</span></div></div><div role=menu tabindex=0 aria-label=Menu>
            <div role=menuitem tabindex=-1>Open</div></div><ul role=listbox aria-label=Empty></ul>"##,
        listed: &[r#"gridcell "Games""#, r#"menuitem "Open""#],
        pressed: &["Open"],
    },
    Kind {
        what: "days of a calendar and a closed side menu",
        page: r##"<div role=grid><div role=row><span role=gridcell aria-label="26 Nov 2026" style="display:block;width:40px"><div style="cursor:pointer">26</div></span></div></div>
            <nav style="position:fixed;left:0;width:200px;transform:translateX(-105%);overflow-y:auto"><a href="#x">Closed</a></nav>"##,
        listed: &[r#"gridcell "26 Nov 2026""#],
        pressed: &["26 Nov 2026"],
    },
    Kind {
        what: "things to drag",
        page: r##"<div draggable=true>Card</div><div id=listener><div><b style="cursor:grab">Handle</b> Row</div></div>"##,
        listed: &[r#"group "Card""#, r#"clickable "Handle""#],
        pressed: &[],
    },
    Kind {
        what: "a sortable header that listens, with a button in it",
        page: r##"<div role=table><div role=row><div role=columnheader id=listener><div role=button tabindex=0 style="width:60px">Price</div></div></div></div>"##,
        listed: &[r#"button "Price""#],
        pressed: &["Price"],
    },
    Kind {
        what: "a transparent field over the mirror of its value",
        page: r##"<span id=l>Colours *</span><div id=listener style="position:relative;z-index:0;width:200px;height:30px"><style>#listener input { position:absolute; inset:0; opacity:0; z-index:-1 }</style>
            <input role=combobox aria-labelledby=l readonly><b>Red</b><input tabindex=-1 aria-hidden=true></div>"##,
        listed: &[r#"combobox "Colours *" readonly"#],
        pressed: &["Colours *"],
    },
    Kind {
        what: "an area in which a thumb is moved, with two fields",
        page: r##"<style>input { position:absolute; width:100%; height:100%; opacity:.001; clip-path:inset(50%); overflow:hidden; pointer-events:none }</style>
            <div style="position:relative;width:90px;height:90px"><div style="position:absolute;left:30px;top:30px;width:20px;height:20px">
            <input type=range aria-label=Hue><input type=range aria-label=Light tabindex=-1 aria-hidden=true></div></div>"##,
        listed: &[r#"slider "Hue""#],
        pressed: &["Hue"],
    },
    Kind {
        what: "an item whose checkbox takes no pointer",
        page: r##"<div role=tree><div role=treeitem id=listener tabindex=0 aria-selected=true style="width:90px"><span style="pointer-events:none"><label><input
            type=checkbox tabindex=-1></label></span>Plums</div></div>"##,
        listed: &[r#"treeitem "Plums" checked"#],
        pressed: &["Plums"],
    },
    Kind {
        what: "a combobox and its label",
        page: r##"<label for=c>Fruit</label><button id=c role=combobox aria-expanded=false>Plum</button>"##,
        listed: &[r#"combobox "Fruit""#],
        pressed: &["Fruit"],
    },
    Kind {
        what: "text of an element without a box",
        page: r##"<div><div id=listener style="width:90px"><span style="display:contents">Card</span> <button>Open</button></div></div>"##,
        listed: &[r#"clickable "Card Open""#, r#"button "Open""#],
        pressed: &["Open"],
    },
    Kind {
        what: "options outside of their list",
        page: r##"<div role=listbox style="height:60px;overflow:auto"><div role=option style="height:20px">A</div><div role=option style="height:20px">B</div><div role=option
            style="height:20px">C</div><div role=option style="height:20px">D</div></div><p style="height:40px;margin:0">Text</p>"##,
        listed: &[r#"option "A""#, r#"option "B""#, r#"option "C""#, r#"option "D" off-screen"#],
        pressed: &["D"],
    },
];

/// Elements with this id listen to clicks, and those of this class to the mouse over them.
const LISTENERS: &str = "<script>window.listener?.addEventListener('click', () => 0);
    for (const one of document.querySelectorAll('.over')) one.addEventListener('mouseenter', () => 0)</script>";

fn list(browser: &mut Browser) -> Vec<Element> {
    browser.elements(Scope::Page, soon()).unwrap().items
}

#[test]
#[ignore = "needs Chromium"]
fn each_drawn_control_is_listed_once_and_can_be_pressed() {
    let place = tempfile::tempdir().unwrap();
    let allowed = AddressRules::default().file(place.path()).unwrap();
    let mut browser = Browser::start(&Launch { allowed, ..Launch::default() }).unwrap();
    let mut wrong = Vec::new();
    for (number, Kind { what, page, listed, pressed }) in KINDS.iter().enumerate() {
        let path = place.path().join(format!("{number}.html"));
        std::fs::write(&path, format!("<!doctype html><meta charset=utf-8>{page}{LISTENERS}")).unwrap();
        browser.navigate(&format!("file://{}", path.display()), Ready::Parsed, soon()).unwrap();
        let item = |one: &Element| format!("{} {:?} {}", one.role, one.name, one.marks.join(" ")).trim().to_owned();
        let found: Vec<String> = list(&mut browser).iter().map(item).collect();
        if found != *listed {
            wrong.push(format!("{what}: {found:?}"));
        }
        for name in *pressed {
            let index = list(&mut browser).iter().find(|one| one.name == *name).map(|one| one.index);
            match index.map(|index| browser.click(index, soon())) {
                Some(Ok(())) => {}
                Some(Err(refusal)) => wrong.push(format!("{what}: {name}: {refusal}")),
                None => wrong.push(format!("{what}: {name} is not listed")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
