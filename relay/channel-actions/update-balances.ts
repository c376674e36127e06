import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { relayChannels } from '#projections/channels/query.ts'
import { type BalanceUpdate, channelChecks } from '#read-api/contract/channel-actions.ts'
import { runInParallel } from '../run-in-parallel.ts'
import {
  type ActionDeps,
  type ChannelAction,
  contextOf,
  currentChannel,
  waitUntilVisible,
} from './channel-action.ts'
import { channelActionError } from './channel-action-errors.ts'
import { hasBalance, readBalance } from './read-provider-balance.ts'
import { waitForCurrentViews } from './wait-until-views-are-current.ts'

/**
 * Serves `GET /api/channel/update_balance/{id}/` for admins: reads the channel's remaining balance
 * in US dollars from its provider.
 */
export const updateBalance: ChannelAction = (api, deps) => {
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/update_balance/:id/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const channel = await currentChannel(deps, Number(request.params.id))
      const { target } = channel
      if (target === null) throw channelActionError('ChannelNotCallable')
      if (!hasBalance(channel)) throw channelActionError('BalanceNotOffered')
      const read = await readBalance(deps, channel, target, contextOf(deps, request))
      if (!read.isRead) throw channelActionError('BalanceUnavailable', read.why)
      await waitUntilVisible(deps, reply, read.position)
      // The recorded event contains the exact amount. This number is only for display in the
      // response.
      const balance = Number(read.balance)
      return { success: true, message: '', balance, data: { balance } }
    },
  })
}

const AT_ONCE = 8
/**
 * The maximum total time to read all balances. It is shorter than the timeouts of common reverse
 * proxies.
 */
const TOTAL_MS = 45_000
const ENABLED = 1

/**
 * Serves `GET /api/channel/update_balance` for admins: reads the balances of the enabled channels
 * whose type reports a balance, as many as fit into `TOTAL_MS`.
 */
export const updateBalances: ChannelAction = (api, deps) => {
  let isRunning = false
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/update_balance'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      if (isRunning) throw channelActionError('BalancesRunning')
      isRunning = true
      try {
        const { position, ...counts } = await readAll(deps, contextOf(deps, request))
        if (position > 0) await waitUntilVisible(deps, reply, position)
        return success(counts)
      } finally {
        isRunning = false
      }
    },
  })
}

async function readAll(
  deps: ActionDeps,
  { actor, cause }: { readonly actor: string; readonly cause: string | null },
): Promise<BalanceUpdate & { position: number }> {
  await waitForCurrentViews(deps)
  const { rows } = await relayChannels(deps.core.db)
  const channels = rows
    .filter(({ status }) => status === ENABLED)
    .flatMap(({ id }) => deps.views.channels.find(id) ?? [])
    .filter(hasBalance)
  const signal = AbortSignal.timeout(TOTAL_MS)
  const counts = { updated: 0, failed: 0, position: 0 }
  const begun = await runInParallel(channels, AT_ONCE, signal, async (channel) => {
    const { target } = channel
    if (target === null) return
    const read = await readBalance(deps, channel, target, { actor, cause }, limited(signal))
    if (!read.isRead) {
      counts.failed += 1
      return
    }
    counts.updated += 1
    counts.position = Math.max(counts.position, read.position)
  })
  return { ...counts, left: channels.length - begun }
}

const PER_CHANNEL_MS = 15_000
const limited = (whole: AbortSignal): AbortSignal =>
  AbortSignal.any([whole, AbortSignal.timeout(PER_CHANNEL_MS)])
