//! The filter methods that all caching sources have.

/// Gives a declaration with a field `filters` its filter methods.
macro_rules! filter_methods {
    ($declaration:ident<$($parameter:ident),*>) => {
        impl<$($parameter),*> $declaration<$($parameter),*> {
            /// Lets only those changes wake a primary whose newest state passes.
            pub fn generic_filter(mut self, accept: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
                self.filters.generic = Some(Arc::new(accept));
                self
            }

            /// Lets only those new resources wake a primary that pass.
            pub fn on_add(mut self, accept: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
                self.filters.on_add = Some(Arc::new(accept));
                self
            }

            /// Lets only those updates wake a primary that pass; the arguments are the new and the old state.
            pub fn on_update(mut self, accept: impl Fn(&R, &R) -> bool + Send + Sync + 'static) -> Self {
                self.filters.on_update = Some(Arc::new(accept));
                self
            }

            /// Lets only those deletions wake a primary whose last state passes.
            pub fn on_delete(mut self, accept: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
                self.filters.on_delete = Some(Arc::new(accept));
                self
            }
        }
    };
}

pub(super) use filter_methods;
