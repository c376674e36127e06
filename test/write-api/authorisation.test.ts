import { beforeAll, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type Callers, makeCallers, OTHER_IDS, REACHED } from './authorisation-callers.ts'
import { type Caller, callerOf, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
let callers: Callers

beforeAll(async () => {
  callers = await makeCallers(fixture)
})

/**
 * `session`: any user with a session, but not with an access token. `admin-session` and
 * `root-session` likewise. `callback`: any caller with a valid signature. The route refuses all
 * callers while no secret is set.
 */
type Level =
  | 'anybody'
  | 'callback'
  | 'user'
  | 'session'
  | 'auditor'
  | 'admin'
  | 'admin-session'
  | 'root'
  | 'root-session'

/**
 * All write routes with the level that each requires. A route without a row fails the first test.
 */
const MATRIX: Readonly<Record<string, Level>> = {
  'POST /api/audit/verifications': 'auditor',
  'POST /api/audit/verify': 'auditor',
  'POST /api/audit/rebuilds': 'root',
  'POST /api/audit/refusals/:id/acknowledge': 'admin',
  'POST /api/audit/scratch-copies': 'auditor',
  'DELETE /api/audit/scratch-copies/:id': 'auditor',
  'POST /api/setup': 'anybody',
  'POST /api/user/login': 'anybody',
  'GET /api/verification': 'anybody',
  'POST /api/user/register': 'anybody',
  'GET /api/reset_password': 'anybody',
  'POST /api/user/reset': 'anybody',
  'GET /api/oauth/state': 'anybody',
  'GET /api/oauth/authorize': 'anybody',
  'GET /api/oauth/:type': 'anybody',
  'GET /api/oauth/wechat': 'anybody',
  'GET /api/oauth/wechat/bind': 'session',
  'GET /api/oauth/telegram/login': 'anybody',
  'GET /api/oauth/telegram/bind': 'session',
  'POST /api/user/unbind': 'session',
  'GET /api/oauth/email/bind': 'session',
  'POST /api/user/login/second': 'anybody',
  'POST /api/user/login/second/begin': 'anybody',
  'POST /api/user/login/passkey/begin': 'anybody',
  'POST /api/user/login/passkey': 'anybody',
  'GET /api/user/logout': 'session',
  'POST /api/user/logout': 'session',
  'DELETE /api/user/sessions/:id': 'session',
  'DELETE /api/user/sessions': 'session',
  'GET /api/user/token': 'session',
  'DELETE /api/user/token': 'session',
  'POST /api/user/totp/begin': 'session',
  'POST /api/user/totp': 'session',
  'POST /api/user/totp/disable': 'session',
  'POST /api/user/recovery_codes': 'session',
  'POST /api/user/passkeys/begin': 'session',
  'POST /api/user/passkeys/proof': 'session',
  'POST /api/user/proof': 'session',
  'POST /api/user/passkeys': 'session',
  'PUT /api/user/passkeys': 'session',
  'POST /api/user/passkeys/remove': 'session',
  'PUT /api/option/': 'admin',
  'POST /api/option/rest_model_ratio': 'admin',
  'POST /api/option/price_schedule': 'admin',
  'DELETE /api/option/price_schedule/:id': 'admin',
  'POST /api/option/price_preview': 'admin',
  'POST /api/option/test_mail': 'root',
  'POST /api/channel/': 'admin',
  'PUT /api/channel/': 'admin',
  'DELETE /api/channel/:id/': 'admin',
  'POST /api/channel/batch': 'admin',
  'DELETE /api/channel/disabled': 'admin',
  'POST /api/channel/copy/:id': 'admin',
  'POST /api/channel/batch/status': 'admin',
  'POST /api/channel/:id/circuit/close': 'admin',
  'POST /api/channel/batch/tag': 'admin',
  'PUT /api/channel/tag': 'admin',
  'POST /api/channel/tag/enabled': 'admin',
  'POST /api/channel/tag/disabled': 'admin',
  'POST /api/channel/fix': 'admin',
  'POST /api/token/': 'user',
  'PUT /api/token/': 'user',
  'DELETE /api/token/:id/': 'user',
  'POST /api/token/batch': 'user',
  'POST /api/token/batch/status': 'user',
  'POST /api/redemption/': 'admin',
  'PUT /api/redemption/': 'admin',
  'DELETE /api/redemption/:id/': 'admin',
  'DELETE /api/redemption/delete-by-name': 'admin',
  'DELETE /api/redemption/delete-disabled': 'admin',
  'PUT /api/redemption/batch-disable': 'admin',
  'POST /api/user/topup': 'user',
  'POST /api/admin/messages': 'admin',
  'PUT /api/admin/messages/:id': 'admin',
  'DELETE /api/admin/messages/:id': 'admin',
  'PUT /api/user/messages/:id/read': 'user',
  'POST /api/user/': 'admin',
  'PUT /api/user/': 'admin',
  'PUT /api/user/self': 'user',
  'DELETE /api/user/self': 'session',
  'PUT /api/user/setting': 'user',
  'POST /api/user/aff_transfer': 'user',
  'POST /api/user/check_in': 'user',
  'POST /api/user/amount': 'user',
  'POST /api/user/pay': 'user',
  'GET /api/user/epay/notify': 'callback',
  'POST /api/user/epay/notify': 'callback',
  'POST /api/stripe/webhook': 'callback',
  'POST /api/user/topup/:id/refund': 'admin',
  'POST /api/user/manage': 'admin',
  'POST /api/user/quota': 'admin',
  'POST /api/user/reset_second_factor': 'admin-session',
  'POST /api/user/erase': 'root-session',
  'POST /api/audit/recompute': 'auditor',
  'POST /api/audit/reprice': 'auditor',
  'POST /api/audit/corrections/preview': 'root',
  'POST /api/audit/corrections': 'root-session',
  'POST /api/audit/invoices': 'admin',
  'DELETE /api/audit/invoices/:id': 'admin',
}

const ROWS = Object.entries(MATRIX)

const isOpen = (level: Level): boolean => level === 'anybody' || level === 'callback'
const reachedBy = (level: Level): readonly number[] => (level === 'callback' ? [503] : REACHED)

/** Returns the status of a call whose body does not pass validation. */
async function ask(row: string, call: Caller, headers: Record<string, string> = {}) {
  const [method = '', pattern = ''] = row.split(' ')
  const url = pattern.replace(':id', '999999')
  const hasBody = method === 'POST' || method === 'PUT'
  const sent = hasBody ? { body: { nothing: true }, headers } : { headers }
  return (await call(method as 'POST', url, sent)).status
}

describe('the authorisation matrix', () => {
  it('has a row for every write route, and none for others', () => {
    const registered = fixture.writeRoutes.map(({ method, url }) => `${method} ${url}`)
    expect([...new Set(registered)].sort()).toEqual(ROWS.map(([row]) => row).sort())
  })

  it.each(ROWS)('%s, for %s: needs a session unless it is open to anybody', async (row, level) => {
    const status = await ask(row, fixture.anybody)
    if (isOpen(level)) expect(reachedBy(level)).toContain(status)
    else expect(status).toBe(401)
  })

  it.each(ROWS)(
    '%s, for %s: refuses another User-Id unless it is open to anybody',
    async (row, level) => {
      for (const id of OTHER_IDS) {
        const call = callerOf(fixture.app, { cookie: fixture.user.cookie, 'user-id': id })
        const status = await ask(row, call)
        if (isOpen(level)) expect(reachedBy(level)).toContain(status)
        else expect(status).toBe(401)
      }
    },
  )

  it.each(ROWS)('%s, for %s: refuses calls from another site', async (row) => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ]) {
      expect(await ask(row, fixture.root.call, headers)).toBe(403)
    }
  })

  // Routes that end the caller's own session are tested below, each with a separate session.
  const OWN_ENDS = /logout$|^DELETE .*self$/
  it.each(ROWS.filter(([row]) => !OWN_ENDS.test(row)))(
    '%s, for %s: admits callers by their role',
    async (row, level) => {
      const { user, admin, root } = fixture
      const reached = reachedBy(level)
      if (/^auditor|^admin|^root/.test(level)) expect(await ask(row, user.call)).toBe(403)
      else expect(reached).toContain(await ask(row, user.call))
      if (/^root/.test(level)) expect(await ask(row, admin.call)).toBe(403)
      else expect(reached).toContain(await ask(row, admin.call))
      expect(reached).toContain(await ask(row, root.call))
    },
  )

  it('a user may delete the own account, but a super admin may not', async () => {
    const { root, user, anybody } = fixture
    expect((await root.call('DELETE', '/api/user/self')).code).toBe('SuperAdminProtected')
    await root.call('POST', '/api/user/', { body: { username: 'leaver', password: PASSWORD } })
    const [here, there] = [await fixture.logIn('leaver'), await fixture.logIn('leaver')]
    expect(await ask('DELETE /api/user/self', here.call)).toBe(200)
    for (const { call } of [here, there]) expect(await ask('PUT /api/user/self', call)).toBe(401)
    const body = { username: 'leaver', password: PASSWORD }
    expect((await anybody('POST', '/api/user/login', { body })).success).toBe(false)
    expect(await ask('PUT /api/user/self', user.call)).not.toBe(401)
  })

  it.each(ROWS)(
    '%s, for %s: admits an access token only if its level allows it',
    async (row, level) => {
      const { user, auditor, admin } = callers.byToken
      const asUser = await ask(row, callerOf(fixture.app, user))
      const asAuditor = await ask(row, callerOf(fixture.app, auditor))
      const asAdmin = await ask(row, callerOf(fixture.app, admin))
      if (/session$|^root$/.test(level)) {
        for (const status of [asUser, asAuditor, asAdmin]) expect([401, 403]).toContain(status)
      } else {
        if (level === 'admin' || level === 'auditor') expect(asUser).toBe(403)
        else expect(reachedBy(level)).toContain(asUser)
        if (level === 'admin') expect(asAuditor).toBe(403)
        else expect(reachedBy(level)).toContain(asAuditor)
        expect(reachedBy(level)).toContain(asAdmin)
      }
    },
  )

  it.each(ROWS)(
    '%s, for %s: refuses void credentials unless it is open to anybody',
    async (row, level) => {
      for (const [way, shown] of callers.voidWays) {
        const status = await ask(row, callerOf(fixture.app, shown))
        if (isOpen(level)) expect(reachedBy(level), way).toContain(status)
        else expect(status, way).toBe(401)
      }
    },
  )

  it('logging out needs no role', async () => {
    for (const [name, row] of [
      ['user1', 'GET /api/user/logout'],
      ['admin1', 'POST /api/user/logout'],
      ['root', 'GET /api/user/logout'],
    ] as const) {
      const session = await fixture.logIn(name)
      expect(await ask(row, session.call)).toBe(200)
    }
  })
})
