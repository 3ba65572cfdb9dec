#!/usr/bin/env python3
"""Whether Kubernetes would take manifests, and whether what they say of each other is so.

    manifests.py [--scenario FILE] MANIFEST …

Each object is held against the API's schema, without fields it does not know, of the oldest Kubernetes the manifests are for and
of the newest that kubernetes-validate has. Then names: what a pod mounts is there or made by hand, what selects pods selects some,
all containers are of one image and user, and a run has as many workers as its Job has pods. One line for each problem; exit status 1 when there are any. --scenario writes
the scenario of the ConfigMap to a file.
"""

import sys

import kubernetes_validate
import yaml

OLDEST = "1.33"  # the first in which backoffLimitPerIndex is stable
BY_HAND = {("Secret", "credentials")}  # README.md says how


def pods(document):
    """The labels and the specification of the pods that an object makes."""
    if document["kind"] == "Pod":
        return [(document["metadata"].get("labels", {}), document["spec"])]
    template = document.get("spec", {}).get("template") if isinstance(document.get("spec"), dict) else None
    return [(template["metadata"].get("labels", {}), template["spec"])] if template else []


def name(document):
    metadata = document.get("metadata", {})
    return f"{document.get('kind')}/{metadata.get('name') or metadata.get('generateName')}"


def schema_problems(document):
    for version in (OLDEST, kubernetes_validate.latest_version()):
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            where = ".".join(str(part) for part in error.path)
            return [f"Kubernetes {version}: {where}: {error.message}"]
        except kubernetes_validate.SchemaNotFoundError as error:
            return [error.message]
    return []


def mounted(spec):
    for volume in spec.get("volumes", []):
        if "secret" in volume:
            yield "Secret", volume["secret"]["secretName"]
        if "configMap" in volume:
            yield "ConfigMap", volume["configMap"]["name"]
        if "persistentVolumeClaim" in volume:
            yield "PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]


def pod_problems(spec, known):
    volumes = {volume["name"] for volume in spec.get("volumes", [])}
    for kind, wanted in mounted(spec):
        if (kind, wanted) not in known | BY_HAND:
            yield f"mounts {kind}/{wanted}, which is not there"
    for container in spec["containers"]:
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in volumes:
                yield f"mounts {mount['name']}, which is no volume of the pod"
        probe = container.get("readinessProbe", {}).get("httpGet", {}).get("port")
        if probe is not None and probe not in {port["name"] for port in container.get("ports", [])}:
            yield f"is probed at {probe}, which is no port of it"
        if not {"requests", "limits"} <= set(container.get("resources", {})):
            yield f"{container['name']} has no requests or no limits"


def job_problems(document):
    spec = document["spec"]
    variables = {entry["name"]: entry.get("value") for entry in spec["template"]["spec"]["containers"][0].get("env", [])}
    counts = {str(spec.get("completions")), str(spec.get("parallelism")), variables.get("WORKERS")}
    if len(counts) != 1:
        yield f"completions, parallelism and WORKERS differ: {', '.join(sorted(map(str, counts)))}"


def selectors(document):
    spec = document["spec"]
    if document["kind"] == "Service":
        yield spec["selector"]
    elif document["kind"] == "Deployment":
        yield spec["selector"]["matchLabels"]
    elif document["kind"] == "NetworkPolicy":
        peers = [peer for rule in spec.get("egress", []) for peer in rule["to"]]
        peers += [peer for rule in spec.get("ingress", []) for peer in rule["from"]]
        own = [peer["podSelector"] for peer in peers if "namespaceSelector" not in peer]
        yield from (selector.get("matchLabels", {}) for selector in [spec["podSelector"], *own])


def main():
    arguments, scenario = sys.argv[1:], None
    if arguments and arguments[0] == "--scenario":
        scenario, arguments = arguments[1], arguments[2:]
    documents = []
    for path in arguments:
        with open(path) as file:
            documents += [(path, document) for document in yaml.safe_load_all(file) if document]
    known = {(document["kind"], document["metadata"].get("name")) for _, document in documents}
    labels = [label for _, document in documents for label, _ in pods(document)]
    found = []
    made = sorted({f"{container['image']} as {spec.get('securityContext', {}).get('runAsUser')}"
                   for _, document in documents for _, spec in pods(document) for container in spec["containers"]
                   if "image" in container})
    if made != ["registry.example.com/pushload:latest as 10001"]:
        found.append(f"containers of {', '.join(made)}: expected one image, as the user of the Dockerfile")
    for path, document in documents:
        problems = schema_problems(document)
        # What is no object of Kubernetes cannot be looked into.
        if not problems:
            for _, spec in pods(document):
                problems += pod_problems(spec, known)
            if document["kind"] == "Job":
                problems += job_problems(document)
            for selector in selectors(document) if "spec" in document else []:
                if not any(selector.items() <= label.items() for label in labels):
                    problems.append(f"selects no pod: {selector}")
            namespace = "pushload" if document["kind"] != "Namespace" else None
            if document["metadata"].get("namespace") != namespace:
                problems.append(f"namespace {document['metadata'].get('namespace')}: expected {namespace}")
        if scenario and document["kind"] == "ConfigMap":
            with open(scenario, "w") as file:
                file.write(document["data"]["scenario.yaml"])
        found += [f"{path}: {name(document)}: {problem}" for problem in problems]
    for line in found:
        print(line)
    print(f"{len(documents)} objects, {len(found)} problems")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
