"""Kitchen measures to grams by density."""

import sys

ML = {
    "us": {"cup": 236.6, "tablespoon": 14.8, "teaspoon": 4.9, "fluid ounce": 29.6},
    "metric": {"cup": 250.0, "tablespoon": 15.0, "teaspoon": 5.0, "fluid ounce": 30.0},
}
GRAMS_A_ML = {
    "flour": 0.53, "wheat flour": 0.53, "rye flour": 0.51, "oats": 0.38, "sugar": 0.85, "butter": 0.96,
    "milk": 1.03, "honey": 1.42, "oil": 0.92, "salt": 1.22, "water": 1.0,
}  # fmt: skip


def to_grams(name, amount, measure, system="us"):
    """Grams of an amount of an ingredient.

    Raises:
        KeyError: an unknown ingredient or measure.
    """
    return round(amount * ML[system][measure] * GRAMS_A_ML[name], 0)


def multiply(recipe, servings):
    """A recipe (``servings`` and ``ingredients`` with ``amount``) for another number of servings."""
    factor = servings / recipe["servings"]
    lines = [{**line, "amount": line["amount"] * factor} for line in recipe["ingredients"]]
    return {**recipe, "servings": servings, "ingredients": lines}


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: convert.py INGREDIENT AMOUNT MEASURE")
    print(to_grams(sys.argv[1], float(sys.argv[2]), sys.argv[3]))
