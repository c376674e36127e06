import type { TokenEvent, TokenTerms } from '#domain/token/events.ts'
import { addressSet } from '#infra/outbound/address.ts'
import type { Vault } from '#infra/vault/port.ts'

/** A token as the relay needs it. Deleted ones are not in the view: their keys are unknown. */
export type RelayToken = {
  readonly tokenId: number
  readonly userId: number
  readonly terms: TokenTerms
  readonly models: ReadonlySet<string> | null
  readonly isEnabled: boolean
  readonly keyLookup: string
  /** null: every address. */
  readonly isIpAllowed: ((address: string) => boolean) | null
}

export type TokenRow = Pick<RelayToken, 'tokenId' | 'userId' | 'terms' | 'isEnabled' | 'keyLookup'>

export class TokenView {
  private readonly byId = new Map<number, RelayToken>()
  private readonly byLookup = new Map<string, RelayToken>()
  private readonly vault: Pick<Vault, 'open'>

  constructor(vault: Pick<Vault, 'open'>) {
    this.vault = vault
  }

  /** By the keyed hash of the key. */
  find(keyLookup: string): RelayToken | undefined {
    return this.byLookup.get(keyLookup)
  }

  async put(row: TokenRow): Promise<void> {
    const { allowIps } = row.terms
    const lines = allowIps === null ? '' : await this.vault.open(row.userId, allowIps)
    const entries = (lines ?? '').split(/[\s,]+/).filter((line) => line !== '')
    const token = {
      ...row,
      models: row.terms.models === null ? null : new Set(row.terms.models),
      // A list that can't be read any more allows nobody, rather than everybody.
      isIpAllowed: lines !== null && entries.length === 0 ? null : addressSet(entries),
    }
    this.byId.set(row.tokenId, token)
    this.byLookup.set(row.keyLookup, token)
  }

  async apply(event: TokenEvent): Promise<void> {
    if (event.type === 'TokenCreated') {
      const { tokenId, userId, terms, keyLookup } = event.data
      return this.put({ tokenId, userId, terms, keyLookup, isEnabled: true })
    }
    const token = this.byId.get(event.data.tokenId)
    if (token === undefined) return
    switch (event.type) {
      case 'TokenTermsChanged':
        return this.put({ ...token, terms: event.data.terms })
      case 'TokenEnabled':
        return this.replace({ ...token, isEnabled: true })
      case 'TokenDisabled':
        return this.replace({ ...token, isEnabled: false })
      case 'TokenDeleted':
        this.byId.delete(token.tokenId)
        this.byLookup.delete(token.keyLookup)
    }
  }

  private replace(token: RelayToken): void {
    this.byId.set(token.tokenId, token)
    this.byLookup.set(token.keyLookup, token)
  }
}
