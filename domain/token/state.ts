import type { TokenTerms } from './events.ts'

export type KnownToken = {
  readonly tokenId: number
  readonly userId: number
  readonly keyRef: string
  readonly terms: TokenTerms
  readonly isEnabled: boolean
  readonly isDeleted: boolean
}

/** null: never created. */
export type TokenState = { readonly token: KnownToken | null }

export const initialToken = (): TokenState => ({ token: null })
