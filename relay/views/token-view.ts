import type { SharedTerms, TokenEvent } from '#domain/tokens/events.ts'
import { addressSet } from '#infra/outbound/ip-addresses.ts'
import type { Vault } from '#infra/vault/port.ts'

/** A token as the read model stores it. */
export type TokenRow = {
  readonly tokenId: number
  readonly userId: number
  /** The token's terms without its name, which the relay does not need. */
  readonly terms: SharedTerms
  readonly isEnabled: boolean
  readonly keyLookup: string
}

type IsAllowed = (address: string) => boolean

/**
 * A token as the relay uses it. Values that are derived from the terms are computed at first use,
 * because most tokens are not used for days.
 */
export class RelayToken implements TokenRow {
  readonly tokenId: number
  readonly userId: number
  readonly terms: SharedTerms
  readonly isEnabled: boolean
  readonly keyLookup: string
  private modelSet: ReadonlySet<string> | null = null
  private addresses: IsAllowed | null = null

  constructor({ tokenId, userId, terms, isEnabled, keyLookup }: TokenRow) {
    this.tokenId = tokenId
    this.userId = userId
    this.terms = terms
    this.isEnabled = isEnabled
    this.keyLookup = keyLookup
  }

  /** The models that the token may call, or null if it may call every model of the group. */
  get models(): ReadonlySet<string> | null {
    if (this.terms.models === null) return null
    this.modelSet ??= new Set(this.terms.models)
    return this.modelSet
  }

  /**
   * Reports whether the token may be used from the address. Rejects if the token's IP list can't be
   * decrypted at the moment. A token without a list may be used from any address.
   */
  async isIpAllowed(address: string, vault: Pick<Vault, 'open'>): Promise<boolean> {
    this.addresses ??= await decryptedList(this, vault)
    return this.addresses(address)
  }
}

/**
 * Returns a function that checks an address against a token's IP list. NOTE: a list that can never
 * be decrypted again allows no address, because allowing all addresses would be unsafe.
 */
async function decryptedList(
  { userId, terms: { allowIps } }: TokenRow,
  vault: Pick<Vault, 'open'>,
): Promise<IsAllowed> {
  if (allowIps === null) return () => true
  const lines = await vault.open(userId, allowIps)
  return addressSet((lines ?? '').split(/[\s,]+/).filter((line) => line !== ''))
}

/** Stores all tokens that are not deleted, by id and by the lookup value of their key. */
export class TokenView {
  private readonly byId = new Map<number, RelayToken>()
  private readonly byLookup = new Map<string, RelayToken>()

  find(keyLookup: string): RelayToken | undefined {
    return this.byLookup.get(keyLookup)
  }

  /** Reports whether the token exists and is not deleted. */
  has(tokenId: number): boolean {
    return this.byId.has(tokenId)
  }

  put(row: TokenRow): void {
    const token = new RelayToken(row)
    this.byId.set(row.tokenId, token)
    this.byLookup.set(row.keyLookup, token)
  }

  apply(event: TokenEvent): void {
    switch (event.type) {
      case 'TokensCreated': {
        const { userId, terms, tokens } = event.data
        for (const { tokenId, keyLookup } of tokens) {
          this.put({ tokenId, userId, terms, keyLookup, isEnabled: true })
        }
        return
      }
      case 'TokenTermsChanged': {
        const { name: _, ...terms } = event.data.terms
        return this.change(event.data.tokenId, { terms })
      }
      case 'TokensEnabled':
        return this.switch(event.data.tokenIds, true)
      case 'TokensDisabled':
        return this.switch(event.data.tokenIds, false)
      case 'TokensDeleted':
        for (const tokenId of event.data.tokenIds) this.remove(tokenId)
    }
  }

  private switch(tokenIds: readonly number[], isEnabled: boolean): void {
    for (const tokenId of tokenIds) this.change(tokenId, { isEnabled })
  }

  /**
   * Changes a token. An unknown token is ignored, because the loaded rows may already include a
   * later event that deleted the token.
   */
  private change(tokenId: number, changes: Partial<TokenRow>): void {
    const token = this.byId.get(tokenId)
    if (token === undefined) return
    const { userId, terms, isEnabled, keyLookup } = token
    this.put({ tokenId, userId, terms, isEnabled, keyLookup, ...changes })
  }

  private remove(tokenId: number): void {
    const token = this.byId.get(tokenId)
    if (token === undefined) return
    this.byId.delete(tokenId)
    this.byLookup.delete(token.keyLookup)
  }
}
