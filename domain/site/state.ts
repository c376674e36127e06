export type SiteState = { readonly isInitialized: boolean }

export const initialSite = (): SiteState => ({ isInitialized: false })
