# What jq has and jaq-core leaves to others, on our own functions. jaq-core's definitions come before these.

def recurse: ..;
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

def add(f): reduce f as $part (null; . + $part);
def sort_by(f): [.[] | [[f], .]] | __sort_pairs;
def group_by(f): [.[] | [[f], .]] | __group_pairs;
def min_by(f): [.[] | [[f], .]] | __least_pair;
def max_by(f): [.[] | [[f], .]] | __greatest_pair;
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

def pow10: pow(10; .);
def logb: if . == 0 then -infinite elif isinfinite then infinite elif isnan then . else ilogb end;
def significand: if . == 0 or isinfinite or isnan then . else scalbln(.; -ilogb) end;
def gamma: lgamma;
def todate: todateiso8601;
def fromdate: fromdateiso8601;
