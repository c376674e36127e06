import { useMemo } from 'react'
import { formatDecimal, multiply, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import { readJsonMap } from './json-map.ts'
import { scaledPrice } from './price-conversion.ts'
import type { SettingsForm } from './use-settings-form.ts'

const OPTIONS = [
  'AudioRatio',
  'AudioCompletionRatio',
  'ImageRatio',
  'ImageCompletionRatio',
] as const
type MediaOption = (typeof OPTIONS)[number]
type MediaRatios = Readonly<Partial<Record<MediaOption, string>>>

/** A price of audio or images in dollars per million tokens, with the option of its ratio. */
type MediaPrice = { readonly option: MediaOption; readonly dollars: string }

/** Returns the prices of audio and images at the ratio of a model's input. */
export type MediaPricesOf = (model: string, ratio: string) => readonly MediaPrice[]

/**
 * Returns a function that finds the prices of audio and images. The price drawer can't change their
 * ratios. A ratio that an admin has set takes precedence over the built-in ratio.
 */
export function useMediaPrices(form: SettingsForm): MediaPricesOf {
  const texts = OPTIONS.flatMap((key) => [form.value(key), form.option(key)?.default ?? '{}'])
  const joined = JSON.stringify(texts)
  return useMemo(() => {
    const maps = (JSON.parse(joined) as string[]).map((text) => readJsonMap(text || '{}'))
    return (model, ratio) => {
      const ratios = OPTIONS.flatMap((option, index) => {
        const found = maps[index * 2]?.get(model) ?? maps[index * 2 + 1]?.get(model)
        return found === undefined ? [] : [[option, found]]
      })
      return mediaPricesAt(ratio, Object.fromEntries(ratios))
    }
  }, [joined])
}

/**
 * Returns the prices for which there is a ratio. The ratio of audio in answers multiplies the price
 * of audio in the input. Without this ratio, audio in answers costs the same as in the input.
 */
export function mediaPricesAt(ratio: string, ratios: MediaRatios): readonly MediaPrice[] {
  const { AudioRatio: audio } = ratios
  const { AudioCompletionRatio: audioCompletion = audio === undefined ? '' : '1' } = ratios
  const ofAnswers = product(audio ?? '1', audioCompletion)
  const scales = { ...ratios, ...(ofAnswers === '' ? {} : { AudioCompletionRatio: ofAnswers }) }
  return OPTIONS.flatMap((option) => {
    const dollars = scaledPrice(ratio, scales[option] ?? '')
    return dollars === '' || dollars.startsWith('-') ? [] : [{ option, dollars }]
  })
}

function product(a: string, b: string): string {
  const [left, right] = [parseDecimal(a), parseDecimal(b)]
  return left === null || right === null ? '' : formatDecimal(multiply(left, right))
}
