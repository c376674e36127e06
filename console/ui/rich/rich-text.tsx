import { lazy, type ReactElement, Suspense } from 'react'
import './rich-text.css'

const RichFrame = lazy(async () => ({ default: (await import('./rich-frame.tsx')).RichFrame }))

export type RichTextProps = {
  text: string
  title: string
  /** For a line at the edge of the page. */
  isSmall?: boolean
  /** HTML alone; else markdown, with or without HTML in it. */
  isHtml?: boolean
}

/** Markdown or HTML that an operator wrote. What draws it is fetched when there is some. */
export function RichText(props: RichTextProps): ReactElement {
  return (
    <Suspense fallback={<div className="tg-rich-frame" />}>
      <RichFrame {...props} />
    </Suspense>
  )
}
