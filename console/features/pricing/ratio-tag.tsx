import type { ReactElement } from 'react'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'

/** Red above 5, orange above 3, blue above 1, otherwise green. */
export const ratioTone = (ratio: number): Tone =>
  ratio > 5 ? 'bad' : ratio > 3 ? 'warn' : ratio > 1 ? 'info' : 'good'

/** The factor applied to a group's prices. */
export function RatioTag({ ratio }: { ratio: number }): ReactElement {
  return (
    <StatusTag tone={ratioTone(ratio)} isPlain>
      ×{ratio}
    </StatusTag>
  )
}
