import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'

export const ratioTone = (ratio: number): Tone =>
  ratio > 5 ? 'bad' : ratio > 3 ? 'warn' : ratio > 1 ? 'info' : 'good'

export function RatioTag({ ratio }: { ratio: number }) {
  return (
    <StatusTag tone={ratioTone(ratio)} isPlain>
      ×{ratio}
    </StatusTag>
  )
}
