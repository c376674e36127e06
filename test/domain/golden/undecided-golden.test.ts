import { describe, expect, it } from 'vitest'
import type { DataExported } from '#domain/audit/events.ts'
import type { LoginsFailed, SessionsEnded, UserLoggedIn } from '#domain/credentials/events.ts'
import type { Fact, Sealed } from '#domain/shared/event.ts'
import { auditLog } from '#projections/audit-log/projection.ts'
import type { FoldContext } from '#projections/projection.ts'
import { fold } from '#projections/runner/fold-events.ts'
import { golden } from './story.ts'

const NOW = 1_795_248_000_000
const ip = 'sealed:ip' as Sealed

type Undecided = UserLoggedIn | LoginsFailed | SessionsEnded | DataExported

/** The events as they are written today. A changed type of an event fails the type check. */
const WRITTEN: Readonly<Record<string, Undecided>> = {
  'user-logged-in-v1': {
    ...({ type: 'UserLoggedIn', v: 1 } as const),
    data: { userId: 7, clientIp: ip, isByPassword: true },
  },
  'logins-failed-v1': {
    ...({ type: 'LoginsFailed', v: 1 } as const),
    data: {
      ...{ userId: 7, count: 3, reasons: { 'wrong-password': 2, throttled: 1 } },
      ...{ networkHash: null, firstAt: NOW, lastAt: NOW + 9_000, client: { userId: 7, ip } },
    },
  },
  'logins-failed-unknown-v1': {
    ...({ type: 'LoginsFailed', v: 1 } as const),
    data: {
      ...{ userId: null, count: 40, reasons: { 'unknown-user': 40 } },
      ...{ networkHash: '0f1e2d3c4b5a6978', firstAt: NOW, lastAt: NOW + 60_000 },
    },
  },
  'sessions-ended-v1': {
    ...({ type: 'SessionsEnded', v: 1 } as const),
    data: { userId: 7, which: 'others', count: 2 },
  },
  'data-exported-v1': {
    ...({ type: 'DataExported', v: 1 } as const),
    data: {
      ...({ exported: 'call-log', userId: 7, format: 'csv', from: NOW / 1_000 } as const),
      ...{ to: null, filters: ['model_name'] },
    },
  },
}

/** Folds an event into the audit log, and returns the act. */
async function actOf(event: Fact): Promise<object> {
  const meta = { actor: 'user:7', cause: null, at: NOW }
  const recorded = { ...event, ...{ id: '', stream: '', revision: 0, position: 9 }, meta }
  const context = {} as FoldContext
  const rows = await fold(auditLog, [recorded], null, context)
  const acts = [...rows.tables()].flatMap(([, changes]) => [...changes])
  expect(acts).toHaveLength(1)
  return { ...acts[0]?.key, ...acts[0]?.set }
}

describe('events that no aggregate decides, as first recorded', () => {
  it.each(Object.entries(WRITTEN))('%s has the form that is written today', (name, written) => {
    expect(golden(name)).toStrictEqual(written)
  })

  it.each([
    ['user-logged-in-v1', 'user', '7', { is_by_password: true }],
    ['logins-failed-v1', 'user', '7', { count: 3, 'wrong-password': 2, throttled: 1 }],
    [
      ...(['logins-failed-unknown-v1', 'site', ''] as const),
      { count: 40, 'unknown-user': 40, network: '0f1e2d3c4b5a6978' },
    ],
    ['sessions-ended-v1', 'user', '7', { sessions: 'others', count: 2 }],
    [
      ...(['data-exported-v1', 'user', '7'] as const),
      {
        ...{ exported: 'call-log', format: 'csv', from: NOW / 1_000, to: null },
        filters: ['model_name'],
      },
    ],
  ])('%s is still read into the audit log', async (name, object_kind, object_id, after) => {
    const act = await actOf(golden(name))
    expect(act).toMatchObject({ position: 9, object_kind, object_id, after })
  })
})
