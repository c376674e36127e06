import { expect, it } from 'vitest'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { Findings } from '#domain/audit/findings.ts'
import type { InboxMessage } from '#read-api/contract/messages.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const site = startedOnce(seededFixture)

it('a notice of findings lists them in both languages, without markup', async () => {
  const findings = new Findings()
  const place = { position: 5, stream: 'account-7', revision: 2 }
  findings.report('postings', place, 'PostsElsewhere', { account: 'user:9:*main* <b>`[x](//y)' })
  const job = { id: 'v1', mode: 'full' } as const
  const context = { actor: 'system:audit', cause: null, at: 1 }
  const { handle } = site.core.actors
  await handle(
    ...([auditJobsDecider, AUDIT_JOBS_STREAM] as const),
    { type: 'RequestVerification', ...job, requestedBy: null, requestedAt: 1 },
    context,
  )
  await handle(
    ...([auditJobsDecider, AUDIT_JOBS_STREAM] as const),
    {
      ...{ type: 'FinishVerification', ...job, fromPosition: 0, toPosition: 9, root: null },
      ...{ treeSize: 0, checks: [], findingCount: 1, findings: findings.list(), finishedAt: 2 },
    },
    context,
  )
  const notices = async () => {
    const { data } = await site.root.call<{ items: InboxMessage[] }>('GET', '/api/user/messages')
    return data.items
  }
  await expect.poll(notices, { timeout: 60_000 }).toHaveLength(1)
  const [{ id } = { id: 0 }] = await notices()
  const { data } = await site.root.call<InboxMessage>('GET', `/api/user/messages/${id}`)
  const lines = data.content.split('\n').filter((line) => line.startsWith('- '))
  expect(lines).toEqual([
    '- `postings` #5 account-7: 记入了其他账户 user:9:main bx(y)',
    '- `postings` #5 account-7: posts to user:9:main bx(y), which is another account',
  ])
}, 90_000)
