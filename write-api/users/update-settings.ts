import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { UpdateSettings } from '#write-api/contract/user.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { notificationsChange } from '../notifications/notification-settings.ts'
import { refused } from '../refusals.ts'

/** PUT /api/user/setting: the own settings; those that are left out stay. */
export const updateSettings: Act = (api, deps) => {
  api.put(
    '/api/user/setting',
    {
      onRequest: onlyUser,
      schema: { summary: 'Change the own settings', body: UpdateSettings, response: { 200: Done } },
    },
    async (request, reply) => {
      const { actors, vault } = deps.core
      const { userId } = principalOf(request)
      const stream = userStream(userId)
      const { accept_unset_model_ratio_model, show_ip_in_logs } = request.body
      const context = contextOf(deps, request)
      const position = await deps.turns(stream, async () => {
        const { user } = await actors.stateOf(userDecider, stream)
        if (user === null) throw refused('UserUnknown')
        const settings = {
          acceptUnsetModelRatioModel:
            accept_unset_model_ratio_model ?? user.settings.acceptUnsetModelRatioModel,
          showIpInLogs: show_ip_in_logs ?? user.settings.showIpInLogs,
        }
        const command = { type: 'ChangeSettings', settings } as const
        const told = await notificationsChange(deps, request, userId)
        const own = { decider: userDecider, stream, command }
        const outcome = await actors.handleTogether([own, told.step], context)
        const { ifDone, ifRefused } = told.leftOver
        const gone = outcome.isDone ? ifDone : ifRefused
        if (gone !== null) await vault.deleteSecret(gone)
        return accepted(outcome).position
      })
      await visibleIn(deps, reply, ['users', 'notifications'], position)
      return done()
    },
  )
}
