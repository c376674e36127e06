import { dayOf } from '#domain/shared/day.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { accountsOf } from '#projections/balances/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { CheckInStatus } from '../contract/user.ts'
import { optionsInForce } from '../options/options-in-force.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'

/** `GET /api/user/check_in_status`: whether today's reward (UTC) is still to be had. */
export function checkInStatus(app: App, deps: ReadDeps): void {
  app.get(
    '/api/user/check_in_status',
    {
      schema: { response: { 200: Envelope(CheckInStatus) } },
      onRequest: onlyUser,
      preHandler: upToDate(deps, 'balances', 'options'),
    },
    async (request) => {
      const { core } = deps
      const { userId } = principalOf(request)
      const account = (await accountsOf(core.db, [userId])).get(userId)
      const isOpen = dayOf(core.now()) > (account?.checkInDay ?? '')
      const options = await optionsInForce(core)
      return success({ can_check_in: options.flag('CheckInEnabled') && isOpen })
    },
  )
}
