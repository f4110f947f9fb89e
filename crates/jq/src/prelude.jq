# The functions of jq that jaq-core does not define, written with our own functions. jaq-core's definitions come before these.

def recurse: ..;
# fabs fails on a value that is not a number.
def abs: fabs as $absolute | if . < 0 then -. else . end;
def isnan: fabs | . != .;
def isinfinite: fabs == infinite;
def isnormal: fabs | . >= 2.2250738585072014e-308 and . < infinite;
def finites: select(isinfinite or isnan | not);
def normals: select(isnormal);

def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type == "array" or type == "object");
def scalars: select(type == "array" or type == "object" | not);
def toarray: if type == "array" then . else [.] end;

def keys: keys_unsorted | sort;
def add(f): reduce f as $part (null; . + $part);
def add: if . == null then null else add(.[]) end;
def sort_by(f): [.[] | [[f], .]] | __sort_pairs;
def group_by(f): [.[] | [[f], .]] | __group_pairs;
def min_by(f): first(min_by_or_empty(f), null);
def max_by(f): first(max_by_or_empty(f), null);
def min: min_by(.);
def max: max_by(.);
def unique_by(f): [group_by(f)[] | .[0]];
def unique: unique_by(.);
def flatten: flatten(1000000);
def transpose: . as $rows | [range([.[] | length] | max // 0) as $column | [$rows[][$column]]];
def inside($whole): . as $part | $whole | contains($part);
def in($whole): . as $key | $whole | has($key);
def index($part): indices($part) | if . == null then null else .[0] end;
def rindex($part): indices($part) | if . == null then null else .[-1] end;
def IN(options): any(options == .; .);
def IN(source; options): any(source == options; .);
def INDEX(rows; key): reduce rows as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);

def del(f): delpaths([path(f)]);
def pick(f): . as $whole | reduce path(f) as $path (null; setpath($path; $whole | getpath($path)));
def to_entries: [keys_unsorted[] as $key | {key: $key, value: .[$key]}];
def from_entries:
  reduce .[] as $entry ({};
    . + {($entry | if type == "object" then
        if has("key") then .key elif has("k") then .k elif has("name") then .name elif has("Name") then .Name
        elif has("Key") then .Key elif has("K") then .K else null end
      else . end | if type == "string" then . elif . == null then "null" else tojson end):
      ($entry | if type == "object" then
        if has("value") then .value elif has("v") then .v elif has("Value") then .Value else .V end
      else null end)});
def with_entries(f): to_entries | map(f) | from_entries;

def test($pattern; $flags): __test($pattern; $flags);
def match($pattern; $flags): __match($pattern; $flags)[];
def test($pattern): if $pattern | type == "array" then test($pattern[0]; $pattern[1]) else test($pattern; null) end;
def match($pattern): if $pattern | type == "array" then match($pattern[0]; $pattern[1]) else match($pattern; null) end;
def capture($pattern; $flags): match($pattern; $flags) | __names;
def capture($pattern): match($pattern) | __names;
def scan($pattern; $flags):
  match($pattern; "g" + $flags) | if .captures == [] then .string else [.captures[].string] end;
def scan($pattern): if $pattern | type == "array" then scan($pattern[0]; $pattern[1]) else scan($pattern; null) end;
def split($pattern; $flags): [foreach __pieces($pattern; "g" + $flags)[] as $piece (null; $piece; strings)];
def splits($pattern; $flags): split($pattern; $flags)[];
def splits($pattern): splits($pattern; null);
def sub($pattern; f; $flags):
  [__pieces($pattern; $flags)[] | if type == "string" then . else [__names | f] end] | __joined[];
def sub($pattern; f): sub($pattern; f; null);
def gsub($pattern; f; $flags): sub($pattern; f; "g" + $flags);
def gsub($pattern; f): sub($pattern; f; "g");
def ascii: [.] | implode;

# jaq-std's versions are stricter than jq's: its reverse takes only arrays, and the others fail on a value that is not a string.
def __reverse: reverse;
def reverse: if . == null then [] elif type == "string" then explode | __reverse | implode else __reverse end;
def __ltrimstr($start): ltrimstr($start);
def ltrimstr($start): if type == "string" and ($start | type) == "string" then __ltrimstr($start) else . end;
def __rtrimstr($end): rtrimstr($end);
def rtrimstr($end): if type == "string" and ($end | type) == "string" then __rtrimstr($end) else . end;
def split($separator): if type == "string" and ($separator | type) == "string" then . / $separator
  else error("cannot split \(type) by \($separator | type); both must be strings") end;

def @text: tostring;
def @json: tojson;
def @html:
  tostring | __replace("&"; "&amp;") | __replace("<"; "&lt;") | __replace(">"; "&gt;") | __replace("'"; "&#39;") | __replace("\""; "&quot;");
def @uri: tostring | encode_uri;
def @sh:
  [if type == "array" then .[] else . end
    | if type == "string" then "'\(escape_sh)'" elif type == "array" or type == "object" then
        error("\(type) cannot be quoted for a shell") else tojson end]
  | join(" ");
def @base64: tostring | encode_base64;
# The padding may be missing, or too long.
def @base64d:
  tostring | until(endswith("=") | not; .[:-1]) | . + "==="[:3 - (utf8bytelength + 3) % 4]
  | try decode_base64 catch error("not base64: \(.)");

def pow10: pow(10; .);
def logb: if . == 0 then -infinite elif isinfinite then infinite elif isnan then . else ilogb end;
def significand: if . == 0 or isinfinite or isnan then . else scalbln(.; -ilogb) end;
def gamma: lgamma;
def todate: todateiso8601;
def fromdate: fromdateiso8601;

# The comparisons of a condition, in which null is neither before nor after anything.
def __present_lt(l; r): l as $l | r as $r | $l != null and $r != null and $l < $r;
def __present_le(l; r): l as $l | r as $r | $l != null and $r != null and $l <= $r;
def __present_gt(l; r): l as $l | r as $r | $l != null and $r != null and $l > $r;
def __present_ge(l; r): l as $l | r as $r | $l != null and $r != null and $l >= $r;
