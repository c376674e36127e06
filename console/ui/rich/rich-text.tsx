import { lazy, type ReactElement, Suspense } from 'react'
import type { RichTextProps } from './rich-frame.tsx'
import './rich-text.css'

const RichFrame = lazy(async () => ({ default: (await import('./rich-frame.tsx')).RichFrame }))

/** Shows an operator's markdown or HTML. The renderer is loaded only if the text is not empty. */
export function RichText(props: RichTextProps): ReactElement {
  return (
    <Suspense
      fallback={<div className="tg-rich-frame" style={{ height: props.firstHeight ?? 'auto' }} />}
    >
      <RichFrame {...props} />
    </Suspense>
  )
}
