import { onlyAdmin } from '#infra/http/access.ts'
import { ChannelBalanceAnswer } from '#read-api/contract/channel-act.ts'
import { type ChannelAct, channelNow, contextOf, IdParams, visible } from './channel-act.ts'
import { hasBalance, readBalance } from './read-balance.ts'
import { refused } from './refusals.ts'

/** `GET /api/channel/update_balance/{id}/`, for admins: what is left of its account, in dollars. */
export const updateBalance: ChannelAct = (api, deps) => {
  api.get(
    '/api/channel/update_balance/:id/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Ask what is left of a channel’s account, in US dollars',
        params: IdParams,
        response: { 200: ChannelBalanceAnswer },
      },
    },
    async (request, reply) => {
      const channel = await channelNow(deps, Number(request.params.id))
      const { target } = channel
      if (target === null) throw refused('ChannelNotCallable')
      if (!hasBalance(channel)) throw refused('BalanceNotOffered')
      const read = await readBalance(deps, channel, target, contextOf(deps, request))
      if (!read.isRead) throw refused('BalanceUnavailable', read.why)
      await visible(deps, reply, read.position)
      // Exact in the ledger; on the wire it is a figure to be shown.
      const balance = Number(read.balance)
      return { success: true, message: '', balance, data: { balance } }
    },
  )
}
