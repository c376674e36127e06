import { lazy, type ReactElement, Suspense } from 'react'
import type { RichTextProps } from './rich-frame.tsx'
import './rich-text.css'

const RichFrame = lazy(async () => ({ default: (await import('./rich-frame.tsx')).RichFrame }))

/** Markdown or HTML that an operator wrote. What draws it is fetched when there is some. */
export function RichText(props: RichTextProps): ReactElement {
  return (
    <Suspense
      fallback={<div className="tg-rich-frame" style={{ height: props.firstHeight ?? 'auto' }} />}
    >
      <RichFrame {...props} />
    </Suspense>
  )
}
