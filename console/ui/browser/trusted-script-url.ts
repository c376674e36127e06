type ScriptPolicy = { createScriptURL: (url: string) => string }
type Globals = {
  trustedTypes?: { createPolicy: (name: string, rules: ScriptPolicy) => ScriptPolicy }
}

/**
 * Creates a function that returns `url` in the form in which the browser trusts it as a script's
 * URL. The Trusted Types policy `policyName` allows only this URL.
 */
export function createScriptUrl(policyName: string, url: string): () => string {
  let policy: ScriptPolicy | undefined
  return () => {
    const { trustedTypes } = globalThis as Globals
    policy ??= trustedTypes?.createPolicy(policyName, { createScriptURL: () => url })
    return policy?.createScriptURL(url) ?? url
  }
}
