import numpy as np
import pytest

from foundry.embedding.distil.starting_rows import apply_linear_map, fit_linear_map, solve


def test_two_equations_by_hand() -> None:
    # 2x + y = 5, x + 3y = 10
    found = solve(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[5.0], [10.0]]))
    assert found == pytest.approx(np.array([[1.0], [3.0]]))


def test_elimination_agrees_with_an_independent_solver() -> None:
    generator = np.random.default_rng(3)
    root = generator.normal(size=(40, 40))
    matrix, right = root @ root.T + np.eye(40), generator.normal(size=(40, 7))
    assert solve(matrix, right) == pytest.approx(np.linalg.solve(matrix, right), abs=1e-9)


def test_a_known_map_is_recovered() -> None:
    generator = np.random.default_rng(4)
    sources = generator.normal(size=(9000, 8)).astype(np.float32)
    sources /= np.linalg.norm(sources, axis=1, keepdims=True)
    truth = generator.normal(size=(8, 5)) / 4
    found = fit_linear_map(sources, (sources @ truth).astype(np.float32), ridge=1e-3)
    assert found == pytest.approx(truth, abs=1e-3)


def test_without_texts_the_map_is_zero() -> None:
    nothing = np.zeros((0, 4), dtype=np.float32)
    found = fit_linear_map(nothing, np.zeros((0, 3), dtype=np.float32), ridge=1.0)
    assert found.shape == (4, 3)
    assert not apply_linear_map(np.ones((2, 4), dtype=np.int8), found).any()


def test_rows_are_mapped_to_thirty_bits() -> None:
    generator = np.random.default_rng(5)
    table = generator.integers(-127, 128, size=(5000, 6)).astype(np.int8)
    coefficients = generator.normal(size=(6, 3))
    mapped = apply_linear_map(table, coefficients)
    assert mapped.dtype == np.float32
    assert mapped == pytest.approx(table.astype(np.float64) @ coefficients, abs=1e-4)
