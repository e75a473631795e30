/** A users file in the style of the house: it reads well in a browser. */
export const usersPage: string = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Users of the site</title>
<h1>Users</h1>
<table>
  <thead><tr><th>Name<th>Password<th>Kind<th>Roles</thead>
  <tr itemscope itemtype="https://example.org/schema/Credential">
    <td itemprop="username">ada</td>
    <td><code itemprop="password">$2y$05$zZJCJmInOxNMDqkjPpSJQOyQKTfOXyMSUzglWTpM94ryUFV4jLspa</code></td>
    <td itemprop="encryption">bcrypt</td>
    <td><ul><li itemprop="role">editor</li><li itemprop="role">admin</li></ul></td>
  </tr>
  <tr itemscope itemtype="https://example.org/schema/Credential">
    <td itemprop="username">grace
    <td><code itemprop="password">{SHA}lcsL/Sl3x2EpjZYk5LTUxyo5l0o=</code>
    <td>
    <td>none
</table>
<!-- <p itemscope itemtype="https://example.org/schema/Credential"><b itemprop="username">former</b></p> -->
<h1>Rules</h1>
<ul>
  <li itemscope itemtype="https://example.org/schema/AuthorizationRule">
    Whoever is <b itemprop="role">editor</b> may <code itemprop="method">GET, PUT POST</code>
    what is in <code itemprop="path">/docs/*</code> and <code itemprop="path">/drafts/*</code>.
  <li itemscope itemtype="https://example.org/schema/AuthorizationRule">
    <data itemprop="username" value="*">Everyone</data> may <b itemprop="right">read</b> and <b itemprop="right">list</b>
    <code itemprop="path">/*</code>.
  <li itemscope itemtype="https://example.org/schema/AuthorizationRule">
    <data itemprop="username" value=":username">Each user</data> may do everything in
    <code itemprop="path">/users/:username/*</code>.
  <li itemscope itemtype="https://example.org/schema/AuthorizationRule">
    <meta itemprop="permission" content="deny"><b itemprop="username">grace</b> may do nothing to
    <code itemprop="selector">#secret</code> of <code itemprop="path">/docs/*</code>.
</ul>
`;
