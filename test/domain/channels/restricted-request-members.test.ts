import { describe, expect, it } from 'vitest'
import {
  allowableMembers,
  isRestrictedMember,
} from '#domain/channels/restricted-request-members.ts'

const CHANNEL_TYPES = Array.from({ length: 60 }, (_, type) => type)

describe('members that select betas', () => {
  it.each(['anthropic_beta', 'anthropic-beta', 'anthropicbeta', 'betas'])(
    'include %s, which no channel may allow',
    (name) => {
      expect(isRestrictedMember(name)).toBe(true)
      const allowed = CHANNEL_TYPES.filter((type) => allowableMembers(type).includes(name))
      expect(allowed).toEqual([])
    },
  )
})

it('the fast mode of Claude can be allowed where a provider has it', () => {
  const [anthropic, bedrock, vertex] = [14, 33, 41].map((type) => allowableMembers(type))
  expect([anthropic, vertex].map((names) => names?.includes('speed'))).toEqual([true, true])
  expect(bedrock).not.toContain('speed')
  expect(bedrock).toContain('cache_control.ttl')
})
