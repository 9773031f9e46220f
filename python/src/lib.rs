//! What the Python package `koan` calls: tables in, models out, and models run. The estimators
//! are in Python, in `koan/`; nothing here is public but to them.

mod arrow;
mod error;
mod frame;
mod model;
mod options;
mod train;
mod work;

use pyo3::prelude::*;

/// The inside of the package `koan`.
#[pymodule]
fn _koan(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<model::Blob>()?;
    module.add_function(wrap_pyfunction!(train::train, module)?)?;
    module.add_function(wrap_pyfunction!(train::tune, module)?)?;
    Ok(())
}
