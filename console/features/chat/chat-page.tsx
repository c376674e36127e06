import './chat.css'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Navigate, useParams } from 'react-router-dom'
import { loginPath } from '#console/api/auth/login-return-path.ts'
import { useUser } from '#console/api/session.ts'
import { useSiteAddress, useStatus } from '#console/api/status.ts'
import {
  type ChatLink,
  chatAddress,
  chatClients,
  chatTarget,
} from '#console/ui/chat-links/chat-links.ts'
import { useChatLinks } from '#console/ui/chat-links/use-chat-links.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { fullKey } from '#console/ui/elements/token-key.ts'
import { Select } from '#console/ui/forms/inputs.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { usePageTitle } from '#console/ui/layout/page.tsx'
import type { Token } from '#read-api/contract/tokens.ts'
import { MissingClient, UnknownClient, useChatTokens } from './chat-tokens-and-empty-states.tsx'

const RELOADED = 'chat-reloaded'

/**
 * Shows a chat client (a web page of another operator) in a frame. The client may run scripts and
 * store data. The client can read the token's key, because `address` contains the key.
 */
function ChatFrame({ name, address }: { name: string; address: string }) {
  const { t } = useTranslation()
  const isBlocked = useIsBlocked(address)
  if (isBlocked) {
    return <EmptyState icon="alert" title={t('chat.blocked')} body={t('chat.blockedLead')} />
  }
  return (
    <iframe
      className="tg-chat-frame"
      title={name}
      src={address}
      sandbox="allow-scripts allow-forms allow-popups allow-same-origin"
      referrerPolicy="no-referrer"
    />
  )
}

/**
 * Reports whether the content security policy of this page blocks the frame. The first violation
 * for an origin in this tab only reloads the page, because the policy may have changed since the
 * page was loaded. Later violations are reported.
 */
function useIsBlocked(address: string): boolean {
  const [isBlocked, setBlocked] = useState(false)
  useEffect(() => {
    const { origin } = new URL(address)
    const onViolation = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent) => {
      if (effectiveDirective !== 'frame-src' || !blockedURI.startsWith(origin)) return
      if (sessionStorage.getItem(RELOADED) === origin) return setBlocked(true)
      sessionStorage.setItem(RELOADED, origin)
      window.location.reload()
    }
    document.addEventListener('securitypolicyviolation', onViolation)
    return () => document.removeEventListener('securitypolicyviolation', onViolation)
  }, [address])
  return isBlocked
}

export function ChatPage() {
  const { t } = useTranslation()
  const { id = '0' } = useParams()
  const status = useStatus()
  const user = useUser()
  useChatLinks()
  const clients = chatClients(status)
  const client = /^\d{1,6}$/.test(id) ? clients[Number(id)] : undefined
  usePageTitle(client?.name ?? t('ui.chat'))
  if (user === null) {
    return <Navigate to={loginPath(`/chat/${id}`, { isExpired: false })} replace />
  }
  if (status === undefined) return <Waiting title={t('ui.chat')} />
  if (client === undefined) {
    const [first] = clients
    return (
      <Titled title={t('ui.chat')}>
        {first === undefined ? <MissingClient /> : <UnknownClient first={first} />}
      </Titled>
    )
  }
  return <Client key={id} client={client} />
}

const Titled = (props: { title: string; children: ReactNode }) => (
  <>
    <h1 className="tg-visually-hidden">{props.title}</h1>
    {props.children}
  </>
)

const Waiting = ({ title }: { title: string }) => {
  const { t } = useTranslation()
  return (
    <Titled title={title}>
      <p className="tg-chat-waiting tg-muted" role="status">
        {t('ui.loading')}
      </p>
    </Titled>
  )
}

function Client({ client }: { client: ChatLink }) {
  const { t } = useTranslation()
  const site = useSiteAddress()
  const { query, tokens, isNone } = useChatTokens()
  const [selected, setSelected] = useState(0)
  const token = tokens.find(({ id }) => id === selected) ?? tokens[0]
  const titled = (notice: ReactNode) => <Titled title={client.name}>{notice}</Titled>
  if (query.error !== null && query.data === undefined) {
    return titled(<ErrorState error={query.error} onRetry={() => void query.refetch()} />)
  }
  if (isNone) {
    return titled(
      <EmptyState icon="key" title={t('chat.noToken')} body={t('chat.redirectingToTokens')} />,
    )
  }
  if (token === undefined) return <Waiting title={client.name} />
  const address = chatAddress(client.template, site, fullKey(token.key))
  const target = chatTarget(address, window.location.origin)
  if (address === null || target === 'none') {
    const texts = { title: t('ui.chatLinkInvalid'), body: t('chat.linkFormatHint') }
    return titled(<EmptyState icon="alert" {...texts} />)
  }
  return (
    <div className="tg-chat">
      <ChatBar
        client={client}
        address={address}
        tokens={tokens}
        token={token}
        onToken={setSelected}
      />
      {target === 'frame' ? (
        <ChatFrame key={address} name={client.name} address={address} />
      ) : (
        <EmptyState icon="chat" title={t('chat.opensExternally', { name: client.name })} />
      )}
    </div>
  )
}

/** Lets the user choose a token. The operator of the chat client receives the token's key. */
function ChatBar(props: {
  client: ChatLink
  address: string
  tokens: readonly Token[]
  token: Token
  onToken: (id: number) => void
}) {
  const { t } = useTranslation()
  const { client, tokens, token } = props
  return (
    <header className="tg-chat-bar">
      <h1>{client.name}</h1>
      <Select
        aria-label={t('chat.token')}
        value={String(token.id)}
        choices={tokens.map(({ id, name }) => ({ value: String(id), label: name }))}
        onChange={(id) => props.onToken(Number(id))}
      />
      <p className="tg-muted">{t('chat.warning')}</p>
      <a className="tg-button" href={props.address} target="_blank" rel="noopener noreferrer">
        <Icon name="external" />
        {t('chat.openInNewWindow')}
      </a>
    </header>
  )
}
