use operator_core::{configuration, prelude::*};

/// What holds for all operators of a company.
struct Company;

impl configuration::ConfigProvider for Company {
    fn entries(&self) -> Result<Vec<configuration::ConfigEntry>> {
        Ok(vec![configuration::ConfigEntry::new("operator.check-crd", "true", "the company's defaults")])
    }
}

fn operator() -> OperatorBuilder {
    let settings = configuration::ConfigLoader::new().provider(Company).file("operator.yaml").environment();
    Operator::builder().configured_by(settings) // … .register(controller)
}
