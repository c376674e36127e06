import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  type Callers,
  makeCallers,
  OTHER_IDS,
  REACHED,
  type Shown,
  shownBy,
} from '#test/write-api/authorisation-callers.ts'
import { type Answer, callerOf, seededFixture } from '#test/write-api/write-fixture.ts'

const fixture = startedOnce(seededFixture)
let callers: Callers
let host: string

beforeAll(async () => {
  callers = await makeCallers(fixture)
  await fixture.app.listen({ port: 0, host: '127.0.0.1' })
  host = `127.0.0.1:${(fixture.app.server.address() as AddressInfo).port}`
})

/** `session`: any user, but by no access token. `socket`: the same, of our own pages alone. */
type Level = 'anybody' | 'user' | 'session' | 'auditor' | 'admin' | 'socket'

/** Every read route: who may reach it. A route without a row fails the first test. */
const MATRIX: Readonly<Record<string, Level>> = {
  'GET /api/audit/verifications': 'auditor',
  'GET /api/audit/verifications/:id': 'auditor',
  'GET /api/audit/rebuilds': 'auditor',
  'GET /api/audit/scratch-copies': 'auditor',
  'GET /api/audit/export': 'auditor',
  'GET /api/audit/log': 'auditor',
  'GET /api/audit/log/export': 'auditor',
  'GET /api/ledger/self': 'user',
  'GET /api/ledger/self/export': 'user',
  'GET /api/ledger/self/statement': 'user',
  'GET /api/ledger/self/balance': 'user',
  'GET /api/audit/ledger/:userId': 'auditor',
  'GET /api/audit/ledger/:userId/export': 'auditor',
  'GET /api/audit/ledger/:userId/corrections/:position': 'auditor',
  'GET /api/ledger/self/corrections/:position': 'user',
  'GET /api/audit/statement/:userId': 'auditor',
  'GET /api/audit/balance/:userId': 'auditor',
  'GET /api/audit/accounts': 'auditor',
  'GET /api/audit/site-month': 'auditor',
  'GET /api/transparency-log/status': 'anybody',
  'GET /transparency-log/checkpoint': 'anybody',
  'GET /checkpoint': 'anybody',
  'GET /transparency-log/tile/*': 'anybody',
  'GET /tile/*': 'anybody',
  'GET /transparency-log/verify.mjs': 'anybody',
  'GET /transparency-log/tile/entries/*': 'auditor',
  'GET /tile/entries/*': 'auditor',
  'GET /api/audit/signed-checkpoints': 'auditor',
  'GET /api/audit/checkpoints': 'auditor',
  'GET /api/status': 'anybody',
  'GET /api/setup': 'anybody',
  'GET /api/notice': 'anybody',
  'GET /api/about': 'anybody',
  'GET /api/home_page_content': 'anybody',
  'GET /api/openapi.json': 'anybody',
  'GET /api/pricing': 'anybody',
  'GET /api/user/self': 'user',
  'GET /api/user/self/groups': 'user',
  'GET /api/user/aff': 'user',
  'GET /api/user/check_in_status': 'user',
  'GET /api/user/models': 'user',
  'GET /api/user/security': 'session',
  'GET /api/user/sessions': 'session',
  'GET /api/user/': 'admin',
  'GET /api/user/search': 'admin',
  'GET /api/user/topup/self': 'user',
  'GET /api/user/topup': 'admin',
  'GET /api/user/:id': 'admin',
  'GET /api/group/': 'admin',
  'GET /api/channel/': 'admin',
  'GET /api/channel/search': 'admin',
  'GET /api/channel/models': 'admin',
  'GET /api/channel/models_enabled': 'admin',
  'GET /api/channel/health': 'admin',
  'GET /api/channel/:id': 'admin',
  'GET /api/channel/:id/timeline': 'admin',
  'GET /api/channel/:id/health_history': 'admin',
  'GET /api/token/': 'user',
  'GET /api/token/search': 'user',
  'GET /api/token/:id': 'user',
  'GET /api/user/messages': 'user',
  'GET /api/user/messages/unread_count': 'user',
  'GET /api/user/messages/:id': 'user',
  'GET /api/admin/messages': 'admin',
  'GET /api/admin/messages/search': 'admin',
  'GET /api/admin/messages/:id': 'admin',
  'GET /api/admin/messages/:id/recipients': 'admin',
  'GET /api/redemption/': 'admin',
  'GET /api/redemption/search': 'admin',
  'GET /api/redemption/count-by-name': 'admin',
  'GET /api/option/': 'admin',
  'GET /api/option/schema': 'admin',
  'GET /api/option/history': 'admin',
  'GET /api/option/latest_release': 'admin',
  'GET /api/option/preset_ratios': 'admin',
  'GET /api/option/price_history': 'admin',
  'GET /api/option/price_schedule': 'admin',
  'GET /api/option/price_units': 'admin',
  'GET /api/log/': 'admin',
  'GET /api/log/stat': 'admin',
  'GET /api/log/self/': 'user',
  'GET /api/log/self/stat': 'user',
  'GET /api/log/export': 'admin',
  'GET /api/log/self/export': 'user',
  'GET /api/audit/calls/:requestId': 'user',
  'GET /api/audit/calls': 'auditor',
  'GET /api/audit/receipts/:requestId': 'user',
  'GET /api/audit/receipts': 'user',
  'GET /api/ledger/self/receipts': 'user',
  'GET /api/audit/other-models': 'auditor',
  'GET /api/audit/state/:kind/:id': 'auditor',
  'GET /api/audit/prices': 'auditor',
  'GET /api/audit/events': 'auditor',
  'GET /api/audit/corrections': 'auditor',
  'GET /api/audit/invoices': 'auditor',
  'GET /api/audit/invoices/:id': 'auditor',
  'GET /api/audit/invoices/:id/requests': 'auditor',
  'GET /api/audit/invoices/:id/export': 'auditor',
  'GET /api/audit/margins': 'auditor',
  'GET /api/audit/invoices/:id/requests/export': 'auditor',
  'GET /api/data/': 'admin',
  'GET /api/data/self/': 'user',
  'GET /api/mj/': 'admin',
  'GET /api/mj/self': 'user',
  'GET /api/task/': 'admin',
  'GET /api/task/self': 'user',
  'GET /api/data/self/tokens': 'user',
  'GET /api/data/site': 'admin',
  'GET /api/live': 'socket',
}

const ROWS = Object.entries(MATRIX)
const REST = ROWS.filter(([, level]) => level !== 'socket')
const SOCKETS = ROWS.filter(([, level]) => level === 'socket')

/** A route that is open to anybody answers, or has nothing yet to answer with. */
const OPEN = [200, 404]

const pathOf = (row: string): string =>
  row
    .replace('GET ', '')
    .replace(':kind', 'channel')
    .replace(/:(?:id|requestId)/, '999999')
    .replace('*', '000')
const ask = (row: string, shown: Shown, headers: Shown = {}): Promise<Answer> =>
  callerOf(fixture.app, shown)('GET', pathOf(row), { headers })

const isReached = ({ status }: Answer, way?: string) => expect(REACHED, way).toContain(status)
/** The answer refuses the request and contains no data. */
function isRefused({ status, data = null, code }: Answer, as: 401 | 403, way?: string): void {
  expect({ status, data, hasCode: Boolean(code) }, way).toEqual({
    ...{ status: as, data: null, hasCode: true },
  })
}

it('the access matrix has a row for every read route, and no other rows', () => {
  const registered = fixture.readRoutes.map(({ method, url }) => `${method} ${url}`)
  expect([...new Set(registered)].sort()).toEqual(ROWS.map(([row]) => row).sort())
})

describe.each(REST)('%s, access level %s', (row, level) => {
  it('answers a caller without a session only if the level is anybody', async () => {
    const answer = await ask(row, {})
    if (level === 'anybody') expect(OPEN).toContain(answer.status)
    else {
      isRefused(answer, 401)
      // Also not what is wrong with the question.
      const bad = `${row.replace(':id', 'x')}?p=x&type=x&is_forced=x&start_timestamp=x`
      isRefused(await ask(bad, {}), 401)
    }
  })

  it('refuses a session with a wrong or missing User-Id unless the level is anybody', async () => {
    const { cookie } = fixture.user
    for (const shown of [{ cookie }, ...OTHER_IDS.map((id) => ({ cookie, 'user-id': id }))]) {
      const answer = await ask(row, shown)
      if (level === 'anybody') expect(OPEN).toContain(answer.status)
      else isRefused(answer, 401)
    }
  })

  it('refuses requests from other sites', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ]) {
      const answer = await ask(row, shownBy(fixture.root), headers)
      // The transparency log is read by programs, and is the same for everybody.
      if (!row.startsWith('GET /api/')) expect(OPEN).toContain(answer.status)
      else isRefused(answer, 403)
    }
  })

  it('admits admins at every level, and users unless the level is admin', async () => {
    const { user, admin, root } = fixture
    const asUser = await ask(row, shownBy(user))
    if (level === 'admin' || level === 'auditor') isRefused(asUser, 403)
    else isReached(asUser)
    for (const above of [admin, root]) isReached(await ask(row, shownBy(above)))
  })

  it('admits access tokens by the role of their user, except at level session', async () => {
    const asUser = await ask(row, callers.byToken.user)
    const asAdmin = await ask(row, callers.byToken.admin)
    const asAuditor = await ask(row, callers.byToken.auditor)
    if (level === 'session' || level === 'admin' || level === 'auditor') isRefused(asUser, 403)
    else isReached(asUser)
    if (level === 'session' || level === 'admin') isRefused(asAuditor, 403)
    else isReached(asAuditor)
    if (level === 'session') isRefused(asAdmin, 403)
    else isReached(asAdmin)
  })

  it('refuses invalid credentials unless the level is anybody', async () => {
    for (const [way, shown] of callers.voidWays) {
      const answer = await ask(row, shown)
      if (level === 'anybody') expect(OPEN, way).toContain(answer.status)
      else isRefused(answer, 401, way)
    }
  })
})

describe.each(SOCKETS)('%s, access level %s', (row) => {
  /** 101 for a socket that opened. */
  const knock = async (shown: Shown, origin = `http://${host}`): Promise<number> => {
    const headers = { ...shown, ...(origin === '' ? {} : { origin }) }
    const socket = new WebSocket(`ws://${host}${pathOf(row)}`, { headers })
    const opened = once(socket, 'open').then(() => 101)
    const refused = once(socket, 'unexpected-response').then(([, { statusCode }]) => statusCode)
    // Whichever does not come ends by the error of the socket that is thrown away.
    for (const end of [opened, refused]) end.catch(() => {})
    const status = await Promise.race([opened, refused])
    socket.terminate()
    return status
  }

  it('opens for every session, also without User-Id, which browsers cannot send', async () => {
    const { user, admin, root } = fixture
    for (const who of [user, admin, root]) expect(await knock(shownBy(who))).toBe(101)
    expect(await knock({ cookie: user.cookie })).toBe(101)
  })

  it('refuses callers without a session, with an access token or invalid credentials', async () => {
    const { user, admin } = callers.byToken
    const ways = [['none', {}], ['token', user], ['admin’s token', admin], ...callers.voidWays]
    for (const [way, shown] of ways as [string, Shown][]) {
      expect(await knock(shown), way).toBe(401)
    }
  })

  it('refuses requests with a foreign or missing Origin header', async () => {
    for (const origin of ['', 'null', 'https://evil.example', `http://${host}0`]) {
      expect(await knock(shownBy(fixture.root), origin), origin).toBe(403)
    }
  })

  it('answers a request without an upgrade with an empty 404', async () => {
    const response = await fetch(`http://${host}${pathOf(row)}`, {
      headers: { ...shownBy(fixture.root), origin: `http://${host}` },
    })
    expect([response.status, await response.text()]).toEqual([404, ''])
  })
})
