import { useEffect, useMemo, useRef } from 'react'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { useTheme } from '#console/theme/theme-mode.ts'
import { frameDocument, trustedHtml } from './sanitize-markup.ts'

export type RichTextProps = {
  text: string
  title: string
  /** True for one line of small text, such as the footer. */
  isSmall?: boolean
  /** True for HTML. If false, the text is Markdown, which may contain HTML. */
  isHtml?: boolean
  /** The height (px) of the frame until the height of the content is known. */
  firstHeight?: number
}

/**
 * Shows a text of the operator in a frame without scripts. Never add `allow-scripts`, because
 * scripts in the frame would have the rights of the console.
 */
export function SandboxedFrame(props: RichTextProps) {
  const { text, title, isSmall = false, isHtml = false, firstHeight } = props
  const isDark = useTheme() === 'dark'
  const language = useLocale()
  const frameContent = useMemo(
    () => ({ id: nextId(), html: frameDocument(text, { isDark, language, isSmall, isHtml }) }),
    [text, isDark, language, isSmall, isHtml],
  )
  return (
    <Frame key={frameContent.id} html={frameContent.html} title={title} firstHeight={firstHeight} />
  )
}

let lastId = 0
const nextId = (): number => {
  lastId += 1
  return lastId
}

/**
 * A frame for one document. Each document needs a new frame, because a second document in the same
 * frame would add an entry to the browser's history.
 */
function Frame(props: { html: string; title: string; firstHeight: number | undefined }) {
  const { html, title, firstHeight } = props
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const { current } = frame
    if (current === null) return
    current.srcdoc = trustedHtml(html)
    return fitHeight(current)
  }, [html])
  return (
    <iframe
      ref={frame}
      className="tg-rich-frame"
      title={title}
      style={firstHeight === undefined ? undefined : { height: firstHeight }}
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
    />
  )
}

function fitHeight(frame: HTMLIFrameElement): () => void {
  let sizes: ResizeObserver | undefined
  const measure = () => {
    const body = frame.contentDocument?.body
    if (body !== undefined && body !== null) {
      frame.style.height = `${Math.ceil(body.getBoundingClientRect().height)}px`
    }
  }
  const watch = () => {
    sizes?.disconnect()
    const body = frame.contentDocument?.body
    if (body === undefined || body === null) return
    sizes = new ResizeObserver(measure)
    sizes.observe(body)
    measure()
  }
  frame.addEventListener('load', watch)
  return () => {
    frame.removeEventListener('load', watch)
    sizes?.disconnect()
  }
}
