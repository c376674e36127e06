import type { ReactElement } from 'react'
import { StatusTag, type Tone } from '#console/ui/status-tag.tsx'

/** Above 5 red, above 3 orange, above 1 blue, else green. */
export const ratioTone = (ratio: number): Tone =>
  ratio > 5 ? 'bad' : ratio > 3 ? 'warn' : ratio > 1 ? 'info' : 'good'

/** What a group's prices are multiplied with. */
export function RatioTag({ ratio }: { ratio: number }): ReactElement {
  return (
    <StatusTag tone={ratioTone(ratio)} isPlain>
      ×{ratio}
    </StatusTag>
  )
}
