import { lexer, type Token, type Tokens } from 'marked'
import { Fragment, memo, type ReactElement, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { Picture, PictureAddresses, splitPictures, useRestoredAddresses } from './pictures.tsx'

/**
 * The maximum length of a text that is formatted. A longer text is shown unformatted, because
 * formatting it would block the page.
 */
const LENGTH_MAX = 200_000
/** The maximum nesting depth. Markdown that is nested deeper is shown as plain text. */
const DEPTH_MAX = 16

/**
 * Shows a Markdown text. HTML in the text is not rendered. Of the images, only those whose data is
 * part of the text are shown, because loading an image would tell another server about the chat.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }): ReactElement {
  const { text: withPlaceholders, addresses } = splitPictures(text)
  const drawn = keyed(tokensOf(withPlaceholders), (token) => <TopBlock token={token} />)
  return (
    <PictureAddresses addresses={addresses}>
      <div className="tg-prose">{drawn}</div>
    </PictureAddresses>
  )
})

/**
 * Renders one block of the Markdown. The component is memoized, so that only the last block is
 * rendered again while an answer grows.
 */
const TopBlock = memo(
  ({ token }: { token: Token }) => <>{block(token as Tokens.Generic, 0)}</>,
  (one, other) => one.token.raw === other.token.raw,
)

function tokensOf(text: string): readonly Token[] {
  try {
    if (text.length > LENGTH_MAX) return [{ type: 'text', raw: text, text }]
    return lexer(text, { gfm: true, breaks: false })
  } catch {
    return [{ type: 'text', raw: text, text }]
  }
}

const blocks = (tokens: readonly Token[], depth: number): ReactNode =>
  keyed(tokens, (token) => block(token as Tokens.Generic, depth))

/**
 * Renders each item with its index as the React key. Markdown tokens have no ids, but their indexes
 * never change, because tokens are only appended.
 */
const keyed = <Item,>(items: readonly Item[], draw: (item: Item) => ReactNode): ReactNode =>
  items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the index of a token never changes
    <Fragment key={at}>{draw(item)}</Fragment>
  ))

function block(token: Tokens.Generic, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return token.raw
  const inside = (token.tokens ?? []) as readonly Token[]
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'hr':
      return <hr />
    case 'heading':
      return <Heading level={token.depth}>{inlines(inside, depth + 1)}</Heading>
    case 'code':
      return <CodeBlock code={token.text} language={token.lang ?? ''} />
    case 'blockquote':
      return <blockquote>{blocks(inside, depth + 1)}</blockquote>
    case 'paragraph':
      return <p>{inlines(inside, depth + 1)}</p>
    case 'html':
      return <p>{token.raw}</p>
    case 'list':
      return <List list={token as Tokens.List} depth={depth} />
    case 'table':
      return <Table table={token as Tokens.Table} depth={depth} />
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ '
    default:
      return inside.length > 0 ? inlines(inside, depth + 1) : inline(token, depth)
  }
}

/** Renders a heading. The highest level is h3, because the page already has h1 and h2. */
function Heading(props: { level: number; children: ReactNode }): ReactElement {
  if (props.level === 1) return <h3>{props.children}</h3>
  if (props.level === 2) return <h4>{props.children}</h4>
  return <h5>{props.children}</h5>
}

function List({ list, depth }: { list: Tokens.List; depth: number }): ReactElement {
  const items = keyed(list.items, ({ tokens, task }) => (
    <li className={task ? 'tg-prose-task' : undefined}>{blocks(tokens, depth + 1)}</li>
  ))
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }): ReactElement {
  const cell = ({ tokens, align, header }: Tokens.TableCell): ReactElement => {
    const style = align === null ? undefined : { textAlign: align }
    const content = inlines(tokens, depth + 1)
    return header ? (
      <th scope="col" style={style}>
        {content}
      </th>
    ) : (
      <td style={style}>{content}</td>
    )
  }
  return (
    <div className="tg-prose-table">
      <table>
        <thead>
          <tr>{keyed(table.header, cell)}</tr>
        </thead>
        <tbody>
          {keyed(table.rows, (row) => (
            <tr>{keyed(row, cell)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const inlines = (tokens: readonly Token[], depth: number): ReactNode =>
  keyed(tokens, (token) => inline(token as Tokens.Generic, depth))

function inline(token: Tokens.Generic, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return token.raw
  const inside = () => inlines((token.tokens ?? []) as readonly Token[], depth + 1)
  switch (token.type) {
    case 'strong':
      return <strong>{inside()}</strong>
    case 'em':
      return <em>{inside()}</em>
    case 'del':
      return <del>{inside()}</del>
    case 'codespan':
      return <InlineCode code={token.text} />
    case 'br':
      return <br />
    case 'link':
      return <SafeLink href={token.href}>{inside()}</SafeLink>
    case 'image':
      return <MarkdownImage href={token.href} text={token.text} />
    case 'html':
      return token.raw
    case 'escape':
      return token.text
    default:
      return token.tokens === undefined ? plainText(token.text ?? token.raw) : inside()
  }
}

const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)/i

/** A link that opens in another tab. An address of another kind is not linked. */
export function SafeLink({ href, children }: { href: string; children: ReactNode }): ReactElement {
  if (!SAFE_ADDRESS.test(href)) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

function MarkdownImage({ href, text }: { href: string; text: string }): ReactElement {
  const link = <SafeLink href={href}>{text || href}</SafeLink>
  return <Picture address={useRestoredAddresses()(href)} description={text} otherwise={link} />
}

const InlineCode = ({ code }: { code: string }): ReactElement => (
  <code>{useRestoredAddresses()(code)}</code>
)

function CodeBlock(props: { code: string; language: string }): ReactElement {
  const { t } = useTranslation()
  const code = useRestoredAddresses()(props.code)
  return (
    <div className="tg-code">
      <div className="tg-code-head">
        <span>{props.language.split(/\s/)[0] || t('playground.code')}</span>
        <CopyButton text={code} label={t('playground.copyCode')} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  )
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
}

const plainText = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|(\w{2,5}));/g, (all, code: string | undefined, name = '') =>
    code === undefined ? (NAMED[name] ?? all) : characterOf(Number(code), all),
  )

const characterOf = (code: number, otherwise: string): string =>
  code >= 32 && code <= 0xffff && !(code >= 0xd800 && code <= 0xdfff)
    ? String.fromCharCode(code)
    : otherwise
