import { expect, it } from 'vitest'
import { isNamedLikeChatModel } from '#relay/providers/profiles/formats-by-model-name.ts'

it.each([
  ['gpt-4o', true],
  ['claude-sonnet-4-5', true],
  ['gemini-2.5-flash-image', true],
  ['text-embedding-3-small', false],
  ['BAAI/bge-m3', false],
  ['jina-reranker-v3', false],
  ['omni-moderation-latest', false],
  ['dall-e-3', false],
  ['gpt-image-1', false],
  ['imagen-4.0-generate-001', false],
  ['gpt-4o-mini-tts', false],
  ['whisper-1', false],
  ['gpt-4o-transcribe', false],
  ['gpt-realtime', false],
  ['sora-2-2025-12-08', false],
  ['wan2.5-t2v-preview', false],
  ['MiniMax-Hailuo-02', false],
  ['MiniMax-M2', true],
])('the name %s is that of a model for chats: %s', (model, expected) => {
  expect(isNamedLikeChatModel(model)).toBe(expected)
})
