"""A node affinity, or a label selector, is none that Kubernetes takes.

## Why   the API server refuses it: operator: Invalid value: "in": not a valid selector operator; values: Required value:
         must be specified when `operator` is 'In' or 'NotIn'; weight: must be in the range 1-100
## Bad   matchExpressions: [{key: gpu, operator: in, values: [a100]}]
## Good  matchExpressions: [{key: gpu, operator: In, values: [a100]}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "invalid-selector"
LEVEL = "error"
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_OF_NODES = (*_OPERATORS, "Gt", "Lt")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: ValidateNodeSelectorRequirement and validateAffinity in pkg/apis/core/validation; label selectors in apimachinery."""
    for template in subject.templates():
        affinity = template.at("spec", "affinity")
        nodes = affinity.at("nodeAffinity")
        terms = nodes.items(_REQUIRED, "nodeSelectorTerms")
        terms += [each.at("preference") for each in nodes.items(_PREFERRED)]
        for term in terms:
            for field in ("matchExpressions", "matchFields"):
                yield from _requirements(term.items(field), _OF_NODES)
        selectors = [each.at("labelSelector") for each in template.items("spec", "topologySpreadConstraints")]
        weighted = nodes.items(_PREFERRED)
        for field in ("podAffinity", "podAntiAffinity"):
            preferred = affinity.items(field, _PREFERRED)
            weighted += preferred
            terms = affinity.items(field, _REQUIRED) + [each.at("podAffinityTerm") for each in preferred]
            selectors += [each.at(key) for each in terms for key in ("labelSelector", "namespaceSelector")]
        for selector in selectors:
            yield from _requirements(selector.items("matchExpressions"), _OPERATORS)
        for each in weighted:
            weight = each.integer("weight")
            if weight is not None and not 1 <= weight <= 100:
                yield each.finding(f"must be from 1 to 100, found {weight}", "weight")


def _requirements(requirements: list[Part], operators: tuple[str, ...]) -> Iterator[Finding]:
    for each in requirements:
        operator, values = each.text("operator"), each.words("values")
        if operator and operator not in operators:
            right = next((known for known in operators if known.lower() == operator.lower()), None)
            edits = (Edit("set", (*each.path, "operator"), right),) if right else ()
            yield each.finding(f'must be one of {", ".join(operators)}, found "{operator}"', "operator", edits=edits)
        elif operator in ("In", "NotIn") and not values:
            yield each.finding(f"must be set for the operator {operator}", "values")
        elif operator in ("Exists", "DoesNotExist") and values:
            yield each.finding(f"must not be set for the operator {operator}", "values")
        elif operator in ("Gt", "Lt") and (len(values) != 1 or not values[0].lstrip("+-").isdecimal()):
            yield each.finding(f"must be one whole number for the operator {operator}", "values")
