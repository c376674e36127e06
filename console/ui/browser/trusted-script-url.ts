type ScriptPolicy = { createScriptURL: (url: string) => string }
type Globals = {
  trustedTypes?: { createPolicy: (name: string, rules: ScriptPolicy) => ScriptPolicy }
}

/**
 * Returns a function that returns the URL of a script, marked as trusted for the browser. The
 * Trusted Types policy `policyName` allows only this URL.
 */
export function createScriptUrl(policyName: string, url: string): () => string {
  let policy: ScriptPolicy | undefined
  return () => {
    const { trustedTypes } = globalThis as Globals
    policy ??= trustedTypes?.createPolicy(policyName, { createScriptURL: () => url })
    return policy?.createScriptURL(url) ?? url
  }
}
