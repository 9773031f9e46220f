//! What the Python package `koan` calls: tables in, models out, and models run. The estimators
//! are in Python, in `koan/`; nothing here is public but to them.

mod arrow;
mod clusters;
mod descent;
mod error;
mod export;
mod files;
mod frame;
mod model;
mod options;
mod reading;
mod report;
mod runner;
mod train;
mod work;

use pyo3::prelude::*;

/// The inside of the package `koan`.
#[pymodule]
fn _koan(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<model::Blob>()?;
    module.add_function(wrap_pyfunction!(files::write_whole, module)?)?;
    module.add_function(wrap_pyfunction!(export::export, module)?)?;
    module.add_function(wrap_pyfunction!(train::train, module)?)?;
    module.add_function(wrap_pyfunction!(train::tune, module)?)?;
    module.add_function(wrap_pyfunction!(report::evaluation, module)?)?;
    module.add_function(wrap_pyfunction!(report::training, module)?)?;
    module.add_function(wrap_pyfunction!(report::search, module)?)?;
    module.add_class::<clusters::Columns>()?;
    module.add_class::<clusters::Sample>()?;
    module.add_class::<clusters::Plan>()?;
    module.add_class::<clusters::Sums>()?;
    module.add_class::<descent::Gradients>()?;
    module.add_class::<descent::Descent>()?;
    module.add_class::<clusters::Verdict>()?;
    module.add_function(wrap_pyfunction!(clusters::merge_slabs, module)?)?;
    module.add_function(wrap_pyfunction!(clusters::merge_verdicts, module)?)?;
    module.add_function(wrap_pyfunction!(clusters::judged, module)?)?;
    module.add_function(wrap_pyfunction!(clusters::finish, module)?)?;
    Ok(())
}
