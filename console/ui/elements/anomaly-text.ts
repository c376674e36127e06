import type { TFunction } from 'i18next'

const ANOMALIES = [
  'missing',
  'decreased',
  'negative',
  'fraction',
  'not-a-number',
  'absurd',
  'implausible',
  'zero',
  'parts-exceed-whole',
  'other-model',
  'higher-cost',
] as const

/** Returns the text for an anomaly in a call's usage. An unknown code is returned unchanged. */
export function anomalyText(t: TFunction, code: string): string {
  const known = ANOMALIES.find((anomaly) => anomaly === code)
  return known === undefined ? code : t(`logDetails.anomaly.${known}`)
}
