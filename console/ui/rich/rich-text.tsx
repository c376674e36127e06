import { lazy, Suspense } from 'react'
import type { RichTextProps } from './sandboxed-frame.tsx'
import './rich-text.css'

const SandboxedFrame = lazy(async () => ({
  default: (await import('./sandboxed-frame.tsx')).SandboxedFrame,
}))

export function RichText(props: RichTextProps) {
  return (
    <Suspense
      fallback={<div className="tg-rich-frame" style={{ height: props.firstHeight ?? 'auto' }} />}
    >
      <SandboxedFrame {...props} />
    </Suspense>
  )
}
