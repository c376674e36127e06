import type { ChannelRecord, ChannelStatus } from '#domain/channels/state.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { relayCircuits } from '#projections/channel-health/query.ts'
import { relayChannels } from '#projections/channels/query.ts'
import { allOptions } from '#projections/options/query.ts'
import { relayTokens } from '#projections/tokens/query.ts'
import { relayUsers } from '#projections/users/query.ts'
import type { CircuitRow } from '../channel-health/open-circuit-view.ts'
import type { TokenRow } from './token-view.ts'
import type { RelayUser } from './user-view.ts'

/**
 * The rows of each read model. `position` is the position of the last event that the rows include.
 */
export type ViewRows = {
  readonly tokens: { readonly position: number; readonly rows: readonly TokenRow[] }
  readonly users: { readonly position: number; readonly rows: readonly RelayUser[] }
  readonly channels: { readonly position: number; readonly rows: readonly ChannelRecord[] }
  readonly circuits: { readonly position: number; readonly rows: readonly CircuitRow[] }
  readonly options: {
    readonly position: number
    readonly revision: number
    readonly values: ReadonlyMap<string, string>
  }
}

/**
 * Loads the rows from the read models, so that a relay need not replay all events when it starts.
 */
export async function loadViewRows({ db }: Pick<Core, 'db'>): Promise<ViewRows> {
  const [tokens, users, channels, circuits, options] = await Promise.all([
    relayTokens(db),
    relayUsers(db),
    loadChannelRows({ db }),
    relayCircuits(db),
    allOptions(db),
  ])
  return {
    tokens,
    users: {
      position: users.position,
      rows: users.rows.map(({ id, role, status, group, settings, isDeleted }) => ({
        userId: id,
        role,
        group,
        settings,
        isEnabled: status === 1 && !isDeleted,
      })),
    },
    channels,
    circuits: {
      position: circuits.position,
      rows: circuits.rows.map(({ channelId, model, keyRef, until, position }) => ({
        scope: { channelId, model, keyRef },
        until,
        position,
      })),
    },
    options,
  }
}

/** Loads the rows of the channels from the read model. */
export async function loadChannelRows({ db }: Pick<Core, 'db'>): Promise<ViewRows['channels']> {
  const { position, rows } = await relayChannels(db)
  return {
    position,
    rows: rows.map(({ id, terms, keyRefs, keyMode, keysSetAside, status }) => ({
      channelId: id,
      terms,
      keyRefs,
      keyMode,
      status: STATUSES[status],
      setAside: keysSetAside.map(({ keyRef }) => keyRef),
    })),
  }
}

const STATUSES: Record<1 | 2 | 3, ChannelStatus> = {
  1: 'enabled',
  2: 'disabled',
  3: 'auto-disabled',
}
