//! Conjugate gradients, preconditioned.

/// What conjugate gradients go through.
pub(crate) trait Vector {
    /// The scalar product.
    fn dot(&self, other: &Self) -> f64;
    /// Adds `factor` times the other one.
    fn add(&mut self, factor: f64, other: &Self);
    /// Multiplies by a number.
    fn scale(&mut self, factor: f64);
}

impl Vector for Vec<f64> {
    fn dot(&self, other: &Self) -> f64 {
        self.iter().zip(other).map(|(a, b)| a * b).sum()
    }

    fn add(&mut self, factor: f64, other: &Self) {
        self.iter_mut().zip(other).for_each(|(a, b)| *a += factor * b);
    }

    fn scale(&mut self, factor: f64) {
        self.iter_mut().for_each(|a| *a *= factor);
    }
}

/// When to stop: at the first of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    /// The residual, in the preconditioner's norm, relative to the one at the start.
    pub share: f64,
    /// Products with the matrix.
    pub products: usize,
}

/// Solves Hx = b for a positive definite H from where b − Hx is `left`.
///
/// `image`: H times a direction. `advance`: called with each length and direction by which x
/// moves. The number of products with H that it took.
pub(crate) fn conjugate_gradients<V: Vector>(
    mut left: V,
    until: Until,
    precondition: impl Fn(&V) -> V,
    image: impl Fn(&V) -> V,
    mut advance: impl FnMut(f64, &V),
) -> usize {
    let mut direction = precondition(&left);
    let mut size = left.dot(&direction);
    let enough = size * until.share * until.share;
    for products in 0..until.products {
        if size <= enough || size <= 0.0 {
            return products;
        }
        let image = image(&direction);
        let bend = direction.dot(&image);
        if bend <= 0.0 {
            return products + 1;
        }
        let length = size / bend;
        advance(length, &direction);
        left.add(-length, &image);
        let next = precondition(&left);
        let reached = left.dot(&next);
        direction.scale(reached / size);
        direction.add(1.0, &next);
        size = reached;
    }
    until.products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_products_as_there_are_unknowns_solve_exactly() {
        let matrix = [[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]];
        let times =
            |x: &Vec<f64>| -> Vec<f64> { matrix.iter().map(|row| row.to_vec().dot(x)).collect() };
        let wanted = vec![1.0, -2.0, 0.5];
        let mut x = vec![0.0; 3];
        let until = Until { share: 0.0, products: 3 };
        let diagonal = |r: &Vec<f64>| -> Vec<f64> { (0..3).map(|k| r[k] / matrix[k][k]).collect() };
        let image = |direction: &Vec<f64>| times(direction);
        let taken = conjugate_gradients(wanted.clone(), until, diagonal, image, |length, d| {
            x.add(length, d);
        });
        assert_eq!(taken, 3);
        let reached = times(&x);
        assert!(wanted.iter().zip(&reached).all(|(a, b)| (a - b).abs() < 1e-12), "{reached:?}");
        // Already there.
        let none = conjugate_gradients(vec![0.0; 3], until, diagonal, image, |_, _| {});
        assert_eq!(none, 0);
    }
}
