import { describe, expect, it } from 'vitest'
import { passedHeaders } from '#relay/dialects/anthropic-messages/headers-passed-to-provider.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'

const PLAIN = 'interleaved-thinking-2025-05-14'

function betasOf(list: string): string | null {
  const passed = passedHeaders({ 'anthropic-beta': list })
  const at = passed.indexOf('anthropic-beta')
  return at < 0 ? null : (passed[at + 1] ?? null)
}

describe('the beta header', () => {
  it.each([
    ...['context-1m-2025-08-07', 'Context-1M-2025-08-07', 'fast-mode-1', 'FAST-mode-1'],
    ...['compact-2026-01-12', 'Compact-2026-01-12'],
  ])('is sent without the priced beta %s', (priced) => {
    expect(betasOf(priced)).toBe(null)
    expect(betasOf(`${priced}, ${PLAIN}`)).toBe(PLAIN)
  })

  it('is sent unchanged without priced betas', () => {
    const list = `${PLAIN}, Other-1, context-management-2025-06-27`
    expect(betasOf(list)).toBe(list)
  })
})

it('no header chooses a workspace or an organization of the account', () => {
  const chosen = { 'anthropic-workspace-id': 'w', 'anthropic-organization-id': 'o' }
  const passed = passedHeaders({ ...chosen, 'anthropic-user-profile-id': 'p' })
  expect(passed.slice(2)).toEqual(['anthropic-user-profile-id', 'p'])
})

it.each(['api-key', 'auth-token', 'authorization', 'cookie', 'client-secret'])(
  'a header that may hold a secret of the caller is not sent: anthropic-%s',
  (name) => {
    const passed = passedHeaders({ [`anthropic-${name}`]: 'x', 'anthropic-other': 'o' })
    expect(passed.slice(2)).toEqual(['anthropic-other', 'o'])
  },
)

it('of a chat, only the betas and the session of the client are sent', () => {
  const passed = {
    ...{ 'openai-beta': 'assistants=v2', originator: 'codex', session_id: 's1' },
    'x-codex-turn-state': 'abc',
  }
  const others = {
    ...{ authorization: 'Bearer sk-x', cookie: 'a=b', 'openai-organization': 'org-1', host: 'h' },
    ...{ 'openai-project': 'p', 'x-forwarded-for': '1.2.3.4', 'anthropic-beta': 'x' },
  }
  expect(OPENAI_CHAT.passedHeaders({ ...others, ...passed })).toEqual(Object.entries(passed).flat())
})
