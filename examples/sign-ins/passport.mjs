// Passport signs users in; everyone may read, and each user owns the directory of their name.
// Run: npm run build && node examples/sign-ins/passport.mjs
import { fileURLToPath } from "node:url";
import express from "express";
import session from "express-session";
import { createFileServer, permissions } from "filement";
import passport from "passport";
import { Strategy } from "passport-local";

const passwords = { ada: "love", bob: "tea" };
passport.use(
  new Strategy((username, password, done) => {
    done(null, Object.hasOwn(passwords, username) && passwords[username] === password ? { id: username } : false);
  }),
);
passport.serializeUser(({ id }, done) => done(null, id));
passport.deserializeUser((id, done) => done(null, { id }));

const app = express();
app.use(session({ secret: process.env["SECRET"] ?? "a secret", resave: false, saveUninitialized: false }));
app.use(passport.session());
app.post("/sign-in", express.urlencoded({ extended: false }), passport.authenticate("local"), (_request, response) => {
  response.redirect("/");
});

const rules = [
  { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
  { username: ":username", path: "/users/:username/*", permission: "allow" },
];
const user = ({ request }) => request.user && { name: request.user.id };
const root = process.env["ROOT"] ?? fileURLToPath(new URL("../site", import.meta.url));
app.use(createFileServer({ root, plugins: [permissions({ user, rules })] }));

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/`);
});
