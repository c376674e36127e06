import { lazy, Suspense } from 'react'
import type { RichTextProps } from './sandboxed-frame.tsx'
import './rich-text.css'

const RichFrame = lazy(async () => ({ default: (await import('./sandboxed-frame.tsx')).RichFrame }))

export function RichText(props: RichTextProps) {
  return (
    <Suspense
      fallback={<div className="tg-rich-frame" style={{ height: props.firstHeight ?? 'auto' }} />}
    >
      <RichFrame {...props} />
    </Suspense>
  )
}
