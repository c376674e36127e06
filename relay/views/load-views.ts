import type { Core } from '#infra/core.ts'
import { relayChannels } from '#projections/channels/query.ts'
import { allOptions } from '#projections/options/query.ts'
import { relayTokens } from '#projections/tokens/query.ts'
import { relayUsers } from '#projections/users/query.ts'
import type { ChannelRow } from './channel-view.ts'
import type { TokenRow } from './token-view.ts'
import type { RelayUser } from './user-view.ts'

/** Rows as of their own positions: events after each are folded on top. */
export type ViewRows = {
  readonly tokens: { readonly position: number; readonly rows: readonly TokenRow[] }
  readonly users: { readonly position: number; readonly rows: readonly RelayUser[] }
  readonly channels: { readonly position: number; readonly rows: readonly ChannelRow[] }
  readonly options: {
    readonly position: number
    readonly revision: number
    readonly values: ReadonlyMap<string, string>
  }
}

/** The rows of a store that is read from its first event on. */
export const NO_ROWS: ViewRows = {
  tokens: { position: 0, rows: [] },
  users: { position: 0, rows: [] },
  channels: { position: 0, rows: [] },
  options: { position: 0, revision: -1, values: new Map() },
}

/** Reads them from the read models, so that a start does not fold the whole history. */
export async function loadViewRows({ db }: Pick<Core, 'db'>): Promise<ViewRows> {
  const [tokens, users, channels, options] = await Promise.all([
    relayTokens(db),
    relayUsers(db),
    relayChannels(db),
    allOptions(db),
  ])
  return {
    tokens: { position: tokens.position, rows: tokens.rows.map(tokenRow) },
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
    channels: {
      position: channels.position,
      rows: channels.rows.map(({ id, terms, keyRef, status }) => ({
        channelId: id,
        terms,
        keyRef,
        isEnabled: status === 1,
      })),
    },
    options,
  }
}

type StoredToken = Awaited<ReturnType<typeof relayTokens>>['rows'][number]

function tokenRow(row: StoredToken): TokenRow {
  const { id, userId, name, isEnabled, keyLookup, expiresAt, group, models, allowIps } = row
  const terms = { name, expiresAt, group, models, allowIps, rateLimit: row.rateLimit }
  return { tokenId: id, userId, isEnabled, keyLookup, terms }
}
