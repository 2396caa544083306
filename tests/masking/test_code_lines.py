"""Is it code? Lines and inline code that are, and as many that are not because a plan speaks so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.masking.code.finder import find_code
from cloze.masking.code.inline import is_solution
from cloze.masking.code.lines import kind_of
from cloze.masking.spans import with_blanks


def masked(text: str) -> str:
    return with_blanks(text, find_code(text)).rendered


# one line of code in some language or in pseudocode
CODE_LINES = """
def f(x):
async def f(x): return 1
class A:
class A(B, C):
@lru_cache(maxsize=None)
import numpy as np
from math import gcd
for i in range(3):
for i in range(3): print(i)
for x, y in zip(a, b):
for (int i = 0; i < n; i++)
for (auto x : v) {
for (const x of xs) {
while lo < hi:
while (n--) {
if n % 2 == 0: return n // 2
if (x > 0) {
elif x in seen:
else:
else return b
except ValueError as e:
with open(path) as file:
x = 5
x: int = 5
lo, hi = 0, n - 1
lo = 0, hi = n - 1
a = b = 0
ans += a[i] * b[j]
dp[i] = dp[i-1] + 1
dp = [[0] * (m + 1) for _ in range(n + 1)]
ans = max(ans, dp[i])
n = int(input()); a = list(map(int, input().split()))
x = 1  # how many items there are
return x*2
return ans
return 0;
raise ValueError("the input is empty")
print(f(3))
print("Hello to the world")
print x
sorted(a)[k-1]
max(a) - min(a)
a.sort()
a[::-1]
i++
[x for x in a if x > 0]
f(n) = f(n-1) + f(n-2)
#include <bits/stdc++.h>
#define ll long long
using namespace std;
int main() {
cout << x << endl;
cin >> n >> m;
vector<int> a(n);
ll n, m;
long long f(int x)
struct Node {
} else {
public static void main(String[] args) {
Map<Integer, Integer> m = new HashMap<>();
System.out.println(x);
const f = (x) => {
let mut v = Vec::new();
use std::io;
fmt.Scan(&n)
function solve(a, b)
procedure BFS(G, s):
x.each do |y|
>>> f(3)
$ python a.py
pip install numpy
SELECT name FROM users WHERE id = 3
# return x+1
// return x + 1;
for i from 1 to n do
For i = 1 to n
for each v in G.V do
FOR i FROM 1 TO n DO
WHILE i < n DO
set x <- x + 1
set count to 0
x ← x + 1
x := x + 1
SET total TO 0
if a > b then return a
IF a > b THEN
If x < 0: return -1
if n % 2 == 0, return 1
int gcd(int a,int b){return b?gcd(b,a%b):a;}
int f(int x) { return x*2; }
static inline ll f(ll x){if(x<0){return -x;}return x;}
vector<int> f(vector<int>& a) { sort(a.begin(), a.end()); return a; } // sorted
bool ok(int x) const { return x>0; }
func f(x int) int { return x*2 }
function f(x) { return x*2; }
struct P { int x, y; };
swap a[i] and a[j]
repeat until x == 0
mid = (lo + hi) / 2.
""".strip().splitlines()

# one line of a plan, of an explanation or of a statement of the problem
PROSE_LINES = """
For each element we keep the maximum.
For each element:
For each i from 1 to n, we compute the best answer that ends at i.
For each query, we return the number of elements in [l, r].
If the sum is odd, answer No.
If n is even, print YES.
If n is even:
If x > 0, we add it.
If n is even, print YES; otherwise print NO.
Return the maximum.
Return ans.
Return -1 if there is no such index.
Print YES
Print "YES" or "NO".
Sort the array.
Read n and the array.
Set the counter to 0
Swap the two ends.
Use a heap, then pop.
Use a deque (double-ended queue).
While there are elements left, pop one;
While the heap is not empty, pop the smallest.
while the queue is not empty, take the front element
for every pair (i, j) with i < j
for example:
from left to right
return the sum
and return the result
import the idea from the previous problem
try the greedy approach first
with this in mind, we can solve it
class of problems that are solvable greedily
break the problem into two parts
continue until nothing changes
pass over the array once
assert that the invariant holds
not every tree is balanced
else we try the next candidate
print the answer
Let n be the length of a.
Let dp[i][j] be the number of ways to choose j items among the first i.
where dp[i] = number of ways to reach i
dp[i] = max profit using the first i items
dp[i]: the best sum that ends at i
Note that a[i] >= 0 for all i.
Because nums[0] + nums[1] == 9, we return [0, 1].
The condition a[i] < a[j] means that i comes first.
It is easy to see that gcd(a, b) divides both a and b.
Hence max(a, b) >= c.
The function f(x) is increasing.
By Lemma 2, f(x) <= f(y) whenever x <= y.
f(3) = 4
gcd(a, b) = 1
2 + 3 = 5
s = 1 + 2 = 3
Since n = 5 and k = 2, there are 10 pairs.
So the answer for the first example is 1 + 2 + 3 = 6.
1 <= n <= 10^5
-10^9 <= a[i] <= 10^9
The total is n(n+1)/2.
Time: O(n)
Space complexity: O(1).
O(n log n)
T(n) = 2T(n/2) + O(n)
time = O(n)
Case 1: n is odd.
Case 2: x > 0
Step 1: Build the graph.
Two pointers
Greedy
I'll use C++ here.
Here's the implementation:
Wait, that's wrong: we also need to handle duplicates.
But what if all numbers are negative?
It is 50% of n, a 5 % chance.
The answer is **42**.
The answer is n(n+1)/2.
The answer is n*(n+1)/2, by induction.
The answer is a + b.
The answer is dp[n].
The answer is f(3) = 4.
The answer is 7 // 2 = 3.
The value is O(n**2).
It outputs the sum(s) of all rows.
The set f(n) {a, b} is closed.
See https://a.b/c//d for more.
Use prefix sums: the sum of a segment is the difference of two prefixes.
See https://example.com/a?b=1 for details.
# Solution
## Approach
**Complexity:** O(n)
Input: nums = [2,7,11,15], target = 9
Output: [0,1]
x = \\frac{a}{b}
$x = 5$ and $dp[i] = dp[i-1] + 1$ in $O(n \\log n)$
\\( x = y[1] \\) and \\frac{a}{b}
| x = 1 | y |
3 5
YES
n
""".strip().splitlines()

LISTED = ["{}", "- {}", "3. {}", "> {}", "  * {}"]


@pytest.mark.parametrize("line", CODE_LINES)
def test_a_line_of_code_is_hidden(line: str) -> None:
    for form in LISTED:
        shown = masked(f"We do this.\n\n{form.format(line)}\n\nThen we stop.")
        hidden = "# [C1]" if line[:2] == "# " else "// [C1]" if line[:2] == "//" else "[C1]"
        hidden = hidden.replace("[C1]", ">>> [C1]") if line.startswith(">>>") else hidden
        if not (line.startswith(">>>") and form != "{}"):  # a prompt within a quote or a list is a quote to Markdown
            assert shown == f"We do this.\n\n{form.format(hidden)}\n\nThen we stop."


@pytest.mark.parametrize("line", PROSE_LINES)
def test_a_line_of_a_plan_stays(line: str) -> None:
    for form in LISTED:
        text = f"We do this.\n\n{form.format(line)}\n\nThen we stop."
        assert masked(text) == text
    assert kind_of(line) in ("prose", "other") or line.startswith("#") or ":" in line


def test_there_are_as_many_plans_as_programs() -> None:
    assert len(PROSE_LINES) >= len(CODE_LINES) - 10


SOLUTIONS = """
sorted(a)[k-1] | dp[i] = dp[i-1] + 1 | return x | x+1 | a + b | n % 2 == 0 | a[::-1] | s[i:j] | len(set(s)) | sum(a)
max(a, b) | a.sort() | heapq.heappush(h, x) | lambda x: x | [x for x in a] | x in seen | i < j | for i in range(n)
if x > 0: | while lo < hi | def f(x): | import heapq | print(x) | ans = max(ans, dp[i]) | i += 1 | i++ | cout << x
int x = 5; | #include <vector> | a ? b : c | not a or not b | (lo + hi) // 2 | n & (n - 1) | x ^ y | ~x | 2 * n | k-1
math.gcd(a, b) | "".join(s) | [0] * n | x <- x + 1 | x := 1 | ans = 0 | A=1 | pip install x | f(n-1) + f(n-2)
"""
MENTIONS = """
n | k | nums | dp[i] | dp[i-1][j] | a[0] | a[-1] | True | None | list | int | O(n) | O(n log n) | O(V + E) | main.py
src/main.cpp | solve() | dfs(u, parent) | f(x) | f(3) | f(3) = 4 | YES | "YES" | -1 | 3.14 | [1, 2, 3] | [] | (1, 2)
collections.deque | std::map | vector<int> | List[int] | 1 <= n <= 10^5 | two pointers | no solution | HashMap | x_1
C++ | -O2 | --help | $x$ | \\frac{a}{b} | https://a.b/c?d=e | Hello, world | (i, j) | 1e9+7 | node.left | while | return
k-th | 0-indexed | @property | a, b, c | Case #1: YES
"""


# sentences: what stands between the marks is hidden
SENTENCES = """
So the formula is ⟦n*(n+1)//2⟧. | The answer is ⟦(n + k - 1) // k⟧, since it is. | output the value ⟦(a+b-1)//b⟧
We return ⟦(a + b) % m⟧ here. | Output ⟦(a + b) % m⟧.
The result is ⟦dp[n][k] % mod⟧, as we saw.
the formula is ⟦a[i] + b[j]⟧ | The answer is simply ⟦max(a, b) + 1⟧. | The answer is ⟦f(n-1) + f(n-2)⟧ at last.
We need ⟦(a+b-1)//b⟧ boxes. | Since ⟦n % 2 == 0⟧, it is even. | There are ⟦2**n - 1⟧ of them.
Use ⟦i//2⟧ as the parent.
The helper is ⟦int gcd(int a,int b){return b?gcd(b,a%b):a;}⟧ and it ends.
"""


def cells(table: str) -> list[str]:
    return [cell.strip() for line in table.strip().splitlines() for cell in line.split(" | ")]


@pytest.mark.parametrize("code", cells(SOLUTIONS))
def test_inline_code_that_solves_is_hidden(code: str) -> None:
    assert is_solution(code)
    assert masked(f"Then `{code}` is it.") == "Then `[C1]` is it."


@pytest.mark.parametrize("code", cells(MENTIONS))
def test_inline_code_that_a_plan_speaks_of_stays(code: str) -> None:
    assert not is_solution(code)
    assert find_code(f"Then `{code}` is it.") == []


@pytest.mark.parametrize("marked", cells(SENTENCES))
def test_an_expression_that_solves_is_hidden_in_a_sentence(marked: str) -> None:
    before, _, rest = marked.partition("⟦")
    assert masked(before + rest.replace("⟧", "")) == before + "[C1]" + rest.partition("⟧")[2]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(PROSE_LINES), min_size=1, max_size=5),
    st.lists(st.sampled_from([line for line in CODE_LINES if line[0] not in "#/>"]), min_size=1, max_size=4),
    st.sampled_from(["```python\n{}\n```", "~~~\n{}\n~~~", "{}", "````\n{}\n````", "> ```\n> {}\n> ```"]),
)
def test_code_goes_and_prose_stays_whatever_stands_beside_it(prose: list[str], code: list[str], form: str) -> None:
    joint = "\n> " if form.startswith(">") else "\n"
    block = form.format(joint.join(code))
    shown = masked("The plan.\n\n" + "\n\n".join(prose) + "\n\nThe code.\n\n" + block + "\n\nThe end of it.")
    expected = "The plan.\n\n" + "\n\n".join(prose) + "\n\nThe code.\n\n"
    assert shown.startswith(expected) and shown.endswith("\n\nThe end of it.")
    assert shown.removeprefix(expected).removesuffix("\n\nThe end of it.") == form.format("[C1]")
