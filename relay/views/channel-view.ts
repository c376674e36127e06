import type { ChannelEvent, ChannelTerms } from '#domain/channel/events.ts'
import type { OutboundPolicy } from '#infra/outbound/guard.ts'
import type { Vault } from '#infra/vault/port.ts'
import { type ProviderTarget, providerTarget } from '#relay/providers/openai-compatible/target.ts'
import { type ChannelRules, channelRules } from './channel-rules.ts'

export type ChannelRow = {
  readonly channelId: number
  readonly terms: ChannelTerms
  readonly keyRef: string
  readonly isEnabled: boolean
}

/** A channel, ready to be called. `target` null: it can't be. */
export type RelayChannel = ChannelRow & {
  readonly target: ProviderTarget | null
  readonly rules: ChannelRules
}

const NONE: readonly RelayChannel[] = []

/** Channels by id, and by group and model as callers name it. Keys are decrypted once. */
export class ChannelView {
  private readonly channels = new Map<number, RelayChannel>()
  private offers: Map<string, Map<string, RelayChannel[]>> | null = null
  private readonly vault: Pick<Vault, 'getSecrets'>
  private readonly policy: OutboundPolicy

  constructor(vault: Pick<Vault, 'getSecrets'>, policy: OutboundPolicy) {
    this.vault = vault
    this.policy = policy
  }

  find(channelId: number): RelayChannel | undefined {
    return this.channels.get(channelId)
  }

  /** Enabled channels that offer the model to the group, in no order. */
  offering(group: string, model: string): readonly RelayChannel[] {
    return this.index().get(group)?.get(model) ?? NONE
  }

  modelsOf(group: string): readonly string[] {
    return [...(this.index().get(group)?.keys() ?? [])]
  }

  /** True when some model of some group has no other enabled channel than this one. */
  isLastOfSomething(channel: RelayChannel): boolean {
    return channel.terms.groups.some((group) =>
      channel.terms.models.some(
        (model) => this.offering(group, channel.terms.modelPrefix + model).length <= 1,
      ),
    )
  }

  async putAll(rows: readonly ChannelRow[]): Promise<void> {
    const refs = rows.map((row) => ({ owner: `channel:${row.channelId}`, ref: row.keyRef }))
    const keys = refs.length === 0 ? new Map() : await this.vault.getSecrets('channel-key', refs)
    for (const row of rows) {
      const key = keys.get(row.keyRef)
      const target = key === undefined ? null : providerTarget(row.terms, key, this.policy)
      this.channels.set(row.channelId, { ...row, target, rules: channelRules(row.terms) })
    }
    this.offers = null
  }

  async apply(event: ChannelEvent): Promise<void> {
    if (event.type === 'ChannelCreated') return this.putAll([{ ...event.data, isEnabled: true }])
    const channel = this.channels.get(event.data.channelId)
    if (channel === undefined) return
    this.offers = null
    switch (event.type) {
      case 'ChannelTermsChanged':
        return this.putAll([{ ...event.data, isEnabled: channel.isEnabled }])
      case 'ChannelEnabled':
        this.channels.set(channel.channelId, { ...channel, isEnabled: true })
        return
      case 'ChannelDisabled':
      case 'ChannelAutoDisabled':
        this.channels.set(channel.channelId, { ...channel, isEnabled: false })
        return
      case 'ChannelDeleted':
        this.channels.delete(channel.channelId)
    }
  }

  private index(): Map<string, Map<string, RelayChannel[]>> {
    if (this.offers !== null) return this.offers
    const offers = new Map<string, Map<string, RelayChannel[]>>()
    for (const channel of this.channels.values()) {
      if (channel.isEnabled && channel.target !== null) addOffers(offers, channel)
    }
    this.offers = offers
    return offers
  }
}

function addOffers(offers: Map<string, Map<string, RelayChannel[]>>, channel: RelayChannel): void {
  const { groups, models, modelPrefix } = channel.terms
  for (const group of new Set(groups)) {
    const ofGroup = offers.get(group) ?? new Map<string, RelayChannel[]>()
    offers.set(group, ofGroup)
    for (const model of new Set(models)) {
      const name = modelPrefix + model
      const channels = ofGroup.get(name)
      if (channels === undefined) ofGroup.set(name, [channel])
      else channels.push(channel)
    }
  }
}
