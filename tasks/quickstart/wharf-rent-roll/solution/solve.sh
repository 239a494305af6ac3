#!/bin/bash
set -e
skill="${SKILLS_DIR:-.claude/skills}/wharf-rent-reviews"
python3 -B "$skill/scripts/reviews.py" leases.json cpi.csv 2031 > rent_roll.csv
