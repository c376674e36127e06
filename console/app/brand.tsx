import { useSiteName } from '#console/ui/layout/page.tsx'
import { useStatus } from '../api/status.ts'

function BrandMark({ size = 24 }: { size?: number }) {
  return (
    <svg
      className="tg-brand-mark"
      viewBox="0 0 32 32"
      width={size}
      height={size}
      aria-hidden="true"
    >
      <rect width="32" height="32" rx="8" />
      <path d="M9 9v14M14 9v14M19 9v14M24 9v14" />
      <path className="tg-brand-strike" d="M6 21.5 27 10.5" />
    </svg>
  )
}

/**
 * Shows the logo and the name of the site. A logo that would be loaded from another site is
 * replaced by the default logo.
 */
export function Brand() {
  const logo = useStatus()?.logo ?? ''
  const isSameOrigin = logo.startsWith('/') && !logo.startsWith('//')
  return (
    <span className="tg-brand">
      {isSameOrigin || logo.startsWith('data:image/') ? (
        <img src={logo} alt="" width={24} height={24} />
      ) : (
        <BrandMark />
      )}
      <span>{useSiteName()}</span>
    </span>
  )
}
