import { describe, expect, it } from 'vitest'
import { findAnswerMismatch, isSameModel } from '#relay/canonical/check-answered-model-and-cost.ts'

describe('comparison of the requested and the answered model', () => {
  it.each([
    ['gpt-4o', 'gpt-4o'],
    ['gpt-4o', 'gpt-4o-2024-08-06'],
    ['gpt-4o-2024-08-06', 'gpt-4o'],
    ['gpt-3.5-turbo', 'gpt-3.5-turbo-0125'],
    ['openai/gpt-4o-mini:free', 'GPT-4o-mini'],
    ['gpt-4o', 'openai/gpt-4o'],
    ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet-20241022'],
    ['claude-3.5-sonnet', 'claude-3-5-sonnet-20240620'],
    ['gemini-2.5-flash', 'gemini-2.5-flash-preview-05-20'],
    ['openrouter/auto', 'openai/o1-pro'],
    ['ep-20250101-abcde', 'doubao-pro-32k'],
    ['eu.anthropic.claude-haiku-4-5-20251001-v1:0', 'claude-haiku-4-5-20251001'],
    ['anthropic.claude-opus-4-6-v1', 'claude-opus-4-6'],
    ['arn:aws:bedrock:eu-west-1:1:application-inference-profile/x', 'claude-opus-5'],
    ['claude-haiku-4-5@20251001', 'claude-haiku-4-5-20251001'],
  ])('accepts for %s an answer of %s', (sent, answered) => {
    expect(isSameModel(sent, answered)).toBe(true)
  })

  it.each([
    ['gpt-4o-mini', 'openai/o1-pro'],
    ['gpt-4o', 'gpt-4o-mini'],
    ['gpt-4', 'gpt-4-32k'],
    ['o1', 'o1-pro'],
    ['claude-sonnet-4', 'claude-sonnet-4-5'],
    ['gpt-4o-2024-05-13', 'gpt-4o-2024-08-06'],
    ['qwen3:8b', 'qwen3:70b'],
    ['eu.anthropic.claude-opus-4-6-v1', 'claude-haiku-4-5-20251001'],
  ])('does not accept for %s an answer of %s', (sent, answered) => {
    expect(isSameModel(sent, answered)).toBe(false)
  })
})

describe('check of an answer’s cost and model', () => {
  const model = { sent: 'gpt-4o-mini', answered: 'gpt-4o-mini' }

  it('accepts a cost of up to twice the list price', () => {
    expect(findAnswerMismatch(model, 0.02, () => 0.01)).toBe(null)
    expect(findAnswerMismatch(model, 0.021, () => 0.01)).toBe('higher-cost')
  })

  it.each([undefined, null, '5', -1, 0, Number.NaN])('ignores a cost of %s', (cost) => {
    expect(findAnswerMismatch(model, cost, () => 0)).toBe(null)
  })

  it.each([undefined, null, '', 5])('ignores a model of %s', (answered) => {
    expect(findAnswerMismatch({ sent: 'a', answered }, undefined, () => 0)).toBe(null)
  })
})
