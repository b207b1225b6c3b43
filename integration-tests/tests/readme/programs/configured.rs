use operator_core::{
    BoxError, Operator, OperatorBuilder,
    configuration::{ConfigEntry, ConfigLoader, ConfigProvider},
};

/// What holds for all operators of a company.
struct Company;

impl ConfigProvider for Company {
    fn entries(&self) -> Result<Vec<ConfigEntry>, BoxError> {
        Ok(vec![ConfigEntry::new("operator.check-crd", "true", "the company's defaults")])
    }
}

fn operator() -> OperatorBuilder {
    let settings = ConfigLoader::new().provider(Company).file("operator.yaml").environment();
    Operator::builder().configured_by(settings) // … .register(controller)
}
