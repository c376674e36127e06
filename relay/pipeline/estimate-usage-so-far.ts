import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { imageUsage, NO_USAGE, toolUsage, type Usage } from '#domain/pricing/usage.ts'
import { tokensOfImages } from '../dialects/openai-images/image-price-factor-and-tokens.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { AnswerForwarder } from './answer-forwarder-types.ts'

/**
 * Estimates the usage of an answer from the part that was delivered so far. `inputUncached` is the
 * input including the tokens of stored content, which `input` does not include.
 */
export function estimateUsageSoFar(
  delivered: AnswerForwarder['delivered'],
  request: ChatRequest,
  { input, inputUncached }: { readonly input: number; readonly inputUncached: number },
  price: PriceSnapshot,
): Usage {
  const imageCount = delivered.imageCount()
  const ofImages = tokensOfImages(request, imageCount, price)
  const output = delivered.estimateTokens() + ofImages
  const tools = delivered.toolUses()
  const images = imageUsage(delivered.estimateImageTokens() + ofImages)
  const uses = toolUsage(tools, tools ?? {})
  return (
    request.format.countUsage?.(request, { input, output }, price) ?? {
      ...{ ...NO_USAGE, inputUncached, output, ...images, ...uses, images: imageCount },
    }
  )
}
