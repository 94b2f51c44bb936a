"""Nodes of Orange's trees, made of the engine's tree.

Both children of every node are there: the left one has the rows that the test sends left. A missing value is a value
of its own, or stands for the training mean or the most frequent value, as the tree was grown.
"""

import numpy as np
from Orange.tree import MappedDiscreteNode, Node, NumericNode

__all__ = ["CutNode", "MissingNode", "ValueNode", "climb_rules", "nodes_of"]

_MOST_VALUES_NAMED = 2


class CutNode(NumericNode):
    """Values from ``cut`` on go right, smaller ones left.

    ``threshold`` is the number below the cut, so that ``value > threshold`` says the same.
    """

    def __init__(self, attr, attr_idx, cut, missing_goes, value):
        super().__init__(attr, attr_idx, np.nextafter(cut, -np.inf), value)
        self.cut = cut
        self.missing_goes = missing_goes

    def descend(self, inst):
        value = inst[self.attr_idx]
        return self.missing_goes if np.isnan(value) else int(value >= self.cut)

    def _set_child_descriptions(self, child, child_idx, conditions):
        lower, upper = _range_of(conditions.get(self.attr))
        if child_idx == 0:
            upper = self.cut if upper is None else min(upper, self.cut)
        else:
            lower = self.cut if lower is None else max(lower, self.cut)
        child.condition = (lower, upper)
        child.description = f"{'<≥'[child_idx]} {number_text(self.attr, self.cut)}"


class ValueNode(MappedDiscreteNode):
    """One value of a discrete attribute goes right, all others left."""

    def __init__(self, attr, attr_idx, code, missing_goes, value):
        mapping = np.zeros(len(attr.values), dtype=np.int16)
        mapping[code] = 1
        super().__init__(attr, attr_idx, mapping, value)
        self.code = code
        self.missing_goes = missing_goes

    def descend(self, inst):
        value = inst[self.attr_idx]
        return self.missing_goes if np.isnan(value) else int(self.mapping[int(value)])

    def _set_child_descriptions(self, child, child_idx, conditions):
        known = conditions.get(self.attr)
        before = known if isinstance(known, set) else set(range(len(self.attr.values)))
        child.condition = before & {self.code} if child_idx else before - {self.code}
        child.description = self.attr.values[self.code] if child_idx else self._others(child.condition)

    def _others(self, codes):
        names = [self.attr.values[code] for code in sorted(codes)]
        if not names or len(names) > _MOST_VALUES_NAMED:
            return f"not {self.attr.values[self.code]}"
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


class MissingNode(Node):
    """Rows with a missing value go to one side, all others to the other."""

    def __init__(self, attr, attr_idx, missing_goes, value):
        super().__init__(attr, attr_idx, value)
        self.missing_goes = missing_goes

    def descend(self, inst):
        return self.missing_goes if np.isnan(inst[self.attr_idx]) else 1 - self.missing_goes

    def _set_child_descriptions(self, child, child_idx, conditions):
        child.condition = conditions.get(self.attr, ())
        child.description = "is missing" if child_idx == self.missing_goes else "is known"


def _range_of(condition):
    return condition if isinstance(condition, tuple) and len(condition) == 2 else (None, None)


def number_text(variable, number):
    """A cut as a person reads it: a date for a time variable, else with as many digits as it needs, up to ten."""
    if variable.is_time:
        return variable.str_val(number)
    return f"{number:.10g}"


def climb_rules(nodes):
    """The conditions of a node, one for each attribute, from the node upwards."""
    rules, seen = [], set()
    for node in nodes:
        parent = node.parent
        if parent is None:
            continue
        attr = parent.attr
        if isinstance(parent, MissingNode):
            rules.append(f"{attr.name} {node.description}")
            continue
        if parent.attr_idx in seen:
            continue
        seen.add(parent.attr_idx)
        if isinstance(parent, ValueNode):
            rules.append(f"{attr.name}: {node.description}")
            continue
        lower, upper = node.condition
        if upper is None:
            rules.append(f"{attr.name} ≥ {number_text(attr, lower)}")
        elif lower is None:
            rules.append(f"{attr.name} < {number_text(attr, upper)}")
        else:
            rules.append(f"{number_text(attr, lower)} ≤ {attr.name} < {number_text(attr, upper)}")
    return rules


def nodes_of(tree, domain, leaves, rows):
    """Make Orange's nodes.

    Parameters
    ----------
    tree : stope._core.DecisionTree
    domain : Orange.data.Domain
        Its attributes are those of the tree, in the same order.
    leaves : ndarray of shape (n,)
        The node in which each training row ends.
    rows : ndarray of shape (n,)
        The row's place in the table that the model keeps.

    Returns
    -------
    root : Node
    counts : ndarray of shape (n_nodes, n_classes)
        The training weights of the classes, by the engine's number of a node.
    """
    arrays, attributes = tree.nodes(), tree.attributes()
    counts = arrays["value"]
    order = np.argsort(leaves, kind="stable")
    begins = np.searchsorted(leaves[order], np.arange(len(counts) + 1))
    place_of = {variable.name: place for place, variable in enumerate(domain.attributes)}
    places = [place_of[attribute["name"]] for attribute in attributes]
    made = [None] * len(counts)
    for number in range(len(counts) - 1, -1, -1):  # children come after their parent
        left, right = int(arrays["children_left"][number]), int(arrays["children_right"][number])
        if left < 0:
            node = Node(None, None, None)
            node.subset = np.sort(rows[order[begins[number]:begins[number + 1]]])
        else:
            node = _inner_node(arrays, attributes, places, domain, number)
            node.children = [made[left], made[right]]
            node.subset = np.sort(np.concatenate([made[left].subset, made[right].subset]))
        node.value = _shown_counts(counts[number], len(node.subset))
        made[number] = node
    return made[0], counts


def _inner_node(arrays, attributes, places, domain, number):
    feature = arrays["feature"][number]
    attribute, place = attributes[feature], places[feature]
    variable = domain.attributes[place]
    fill = attribute["fill"]
    if not attribute["symbolic"]:
        cut = float(arrays["threshold"][number])
        if np.isneginf(cut):
            return MissingNode(variable, place, 0, None)
        return CutNode(variable, place, cut, 0 if fill is None else int(fill >= cut), None)
    code = int(arrays["category"][number])
    if code >= len(variable.values):  # the value that stands for missing ones
        return MissingNode(variable, place, 1, None)
    return ValueNode(variable, place, code, 0 if fill is None else int(fill == code), None)


def _shown_counts(counts, n_rows):
    """The counts of a node, scaled where rows or classes have weights, so that they sum to its number of rows."""
    total = counts.sum()
    return counts.copy() if total == n_rows or total == 0 else counts * (n_rows / total)
