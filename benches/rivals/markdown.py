"""Tables of what was measured."""

from statistics import mean, median

LEAST = 0.25  # percent
COLUMNS = {"koan": "koan", "trees": "packed trees", "forest": "emlearn forest", "network": "int8 network"}


def markdown(lines):
    text = ""
    models = [line for line in lines if not line["whole"] and "error" in line]
    for limit in sorted({line["limit"] for line in models}):
        text += f"### Models of {limit} bytes\n\n" + errors([line for line in models if line["limit"] == limit]) + "\n"
    text += "### With the code\n\n" + wholes([line for line in lines if line["whole"]]) + "\n"
    return text + "### Instructions\n\n" + instructions(lines)


def head(first, columns):
    return f"| {first} | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}\n"


def found(lines):
    """Mean errors by table, then by rival; those of a rival of which no model fits are left out,
    and so are tables that not all have been run on."""
    errors = {}
    for name in sorted({line["table"] for line in lines}):
        mine = [line for line in lines if line["table"] == name]
        if len({line["rival"] for line in mine}) < len(COLUMNS):
            continue
        by = {rival: [line["error"] for line in mine if line["rival"] == rival] for rival in COLUMNS}
        errors[name] = {rival: mean(each) for rival, each in by.items() if each and None not in each}
    return errors


def regrets(errors):
    """Errors over the best one of each table; means, and of how many tables. What is below
    LEAST counts as LEAST: a few rows of the test are no factor."""
    ratios = {rival: [] for rival in COLUMNS}
    for by in errors.values():
        for rival, error in by.items():
            ratios[rival].append(max(error, LEAST) / max(min(by.values()), LEAST))
    return {rival: (mean(each), len(each)) for rival, each in ratios.items() if each}


def of_classes(lines, errors):
    names = {line["table"] for line in lines if line["classes"]}
    means = {}
    for rival in COLUMNS:
        each = [by[rival] for name, by in errors.items() if name in names and rival in by]
        if each:
            means[rival] = mean(each)
    return means


def errors(lines):
    by_table = found(lines)
    if not by_table:
        return ""
    text = head("table", COLUMNS.values())
    for name, by in by_table.items():
        best = min(round(error, 2) for error in by.values())
        cells = [f"{by[rival]:.2f}" if rival in by else "none" for rival in COLUMNS]
        cells = [f"**{cell}**" if cell == f"{best:.2f}" else cell for cell in cells]
        text += f"| {name} | {' | '.join(cells)} |\n"
    regret, classes = regrets(by_table), of_classes(lines, by_table)
    number = lambda rival: f"{regret[rival][0]:.3f}" + ("" if regret[rival][1] == len(by_table) else f" of {regret[rival][1]}")
    text += row("mean of error / best", {rival: number(rival) for rival in regret})
    text += row("mean of the tables of classes", {rival: f"{value:.2f}" for rival, value in classes.items()})
    wins = {rival: 0 for rival in COLUMNS}
    for by in by_table.values():
        for rival, error in by.items():
            wins[rival] += round(error, 2) == round(min(by.values()), 2)
    return text + row("tables where it is best", wins)


def row(name, values):
    return f"| {name} | {' | '.join(str(values.get(rival, 'none')) for rival in COLUMNS)} |\n"


def span(values):
    return f"{min(values)}" if len(set(values)) == 1 else f"{min(values)} to {max(values)}"


def wholes(lines):
    text = head("code and model", COLUMNS.values())
    for limit in sorted({line["limit"] for line in lines}):
        mine = [line for line in lines if line["limit"] == limit]
        by_table = found(mine)
        fits = {rival: sum(rival in by for by in by_table.values()) for rival in COLUMNS}
        some = {rival for rival in COLUMNS if 4 * fits[rival] >= len(by_table)}
        code = {rival: [line["code"] for line in mine if line["rival"] == rival and "code" in line] for rival in COLUMNS}
        name = f"{limit} bytes"
        text += row(f"{name}: of code, beyond the model's", {rival: span(each) for rival, each in code.items() if each})
        text += row(f"{name}: tables with a model that fits", fits)
        # Means are of the same tables for all that fit on a quarter of them at least.
        common = {name: by for name, by in by_table.items() if some <= by.keys()}
        means = {rival: f"{value[0]:.3f}" for rival, value in regrets(common).items() if rival in some}
        text += row(f"{name}: mean of error / best, {len(common)} tables on which these fit", means)
        means = {rival: f"{value:.2f}" for rival, value in of_classes(mine, common).items() if rival in some}
        text += row(f"{name}: mean of those of classes", means)
    return text


def instructions(lines):
    counted = [line for line in lines if "instructions" in line]
    each = {rival: [line["instructions"] for line in counted if line["rival"] == rival] for rival in COLUMNS}
    text = head("of a model", COLUMNS.values())
    for name, what in (("least", min), ("median", median), ("most", max)):
        text += row(name, {rival: round(what(values)) for rival, values in each.items() if values})
    return text
